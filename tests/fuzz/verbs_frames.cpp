// SPDX-License-Identifier: Apache-2.0
// The other end of a queue pair offers and sends arbitrary bytes. Every delivered payload has the
// size in its header, no frame is delivered after the first broken rule, and another connection is
// not affected.
#include <vector>

#include "runtime/progress/engine.hpp"
#include "support/verbs_fabric.hpp"
#include "target.hpp"
#include "transports/verbs/transport.hpp"

namespace weft::fuzz {

namespace {

using namespace transports;
using tests::fabric;
using tests::fake_device;

/// Checks all that is delivered.
class listener final : public frame_sink {
 public:
  unsigned sum = 0, frames = 0;
  bool over = false, told = false;

  bool on_frame(const frame_header& h, const frame_extension* x,
                const std::byte* payload) noexcept override {
    check(!over, "nothing comes after the end");
    check(h.size <= verbs::max_payload, "a frame has its limit");
    check(h.kind < verbs::first_own_kind, "the transport keeps its own frames");
    check((x != nullptr) == ((h.flags & has_extension) != 0), "an extension comes when announced");
    for (std::size_t i = 0; i < h.size; ++i) sum += static_cast<unsigned>(payload[i]);
    ++frames;
    over = h.kind == 0xef;
    return !over;
  }
  void on_transferred(std::uint64_t, bool well) noexcept override {
    check(!told && well, "what failed ends with the link");
  }
  void on_writable() noexcept override { check(!told, "no room is made by who is broken"); }
  void on_broken(errc) noexcept override {
    check(!told, "an end is told of once");
    over = told = true;
  }
};

wireup_message bytes_of(std::span<const std::byte> bytes) {
  return {0, {bytes.begin(), bytes.end()}, {}};
}

verbs::queue_pair_address card_in(const wireup_message& p) {
  verbs::queue_pair_address c{};
  if (p.bytes.size() == sizeof c) std::memcpy(&c, p.bytes.data(), sizeof c);
  return c;
}

/// Frames may be sent to this side all the same.
verbs::settings with_inboxes() {
  verbs::settings s;
  s.eager = eager_operation::write;
  return s;
}

/// This side, with the lying peer and another one.
struct stage {
  fabric net;
  fake_device elsewhere{net};
  std::unique_ptr<verbs::queue_pair> liar = elsewhere.make_queue_pair();
  std::unique_ptr<verbs::queue_pair> honest = elsewhere.make_queue_pair();
  runtime::engine turns{progress_mode::polling, {}, "epoll"};
  listener of_liar, of_honest;
  verbs::verbs_transport here{turns, with_inboxes(), std::make_unique<fake_device>(net)};
  const counterpart who{};
  std::unique_ptr<link> out;
  // Memory of this side: what a link shows, what it moves, and what no peer may reach.
  std::vector<std::byte> readable = std::vector<std::byte>(100, std::byte{1});
  std::vector<std::byte> writable = std::vector<std::byte>(100);
  std::vector<std::byte> moved = std::vector<std::byte>(100);
  std::vector<std::byte> theirs = std::vector<std::byte>(verbs::slot_bytes);
  std::unique_ptr<verbs::registration> known =
      elsewhere.enroll(theirs, reinterpret_cast<std::uintptr_t>(theirs.data()) % 4096,
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);

  stage() {
    turns.add(here);
    const runtime::engine::holder hold(turns);
    verbs::queue_pair_address card{};
    wireup_message own;
    card = {verbs::magic,
            verbs::version,
            0,
            honest->number(),
            0,
            4,
            1,
            static_cast<std::uint8_t>(verbs::window),
            16,
            verbs::slot_bytes,
            {},
            0,
            0};
    check(here.accept(of_honest, who, bytes_of(std::as_bytes(std::span(&card, 1))), own).empty(),
          "an honest peer is accepted");
    honest->connect(card_in(own), 0, std::chrono::seconds(1));
    // The frames of this side arrive, because its end would wait for them.
    ibv_sge all{reinterpret_cast<std::uintptr_t>(theirs.data()) % 4096, verbs::slot_bytes,
                known->local_key()};
    for (int i = 0; i != 1000; ++i) {
      ibv_recv_wr one{0, nullptr, &all, 1};
      elsewhere.post_receives(one, nullptr);
    }
  }
  ~stage() {
    const runtime::engine::holder hold(turns);
    out.reset();
  }

  void offer(std::span<const std::byte> bytes) {
    const runtime::engine::holder hold(turns);
    wireup_message answer;
    if (here.accept(of_liar, who, bytes_of(bytes), answer).empty()) connect(answer);
  }
  void open(std::span<const std::byte> bytes) {
    const runtime::engine::holder hold(turns);
    if (out) return;
    wireup_message own;
    try {
      out = here.open(of_liar, who, own);
    } catch (const error&) {
      return;  // the connection has ended
    }
    connect(own);
    if (!out->opened(bytes_of(bytes)).empty()) out.reset();
  }
  void connect(const wireup_message& card) {
    liar->connect(card_in(card), 0, std::chrono::seconds(1));
  }
  void send(verbs::queue_pair& from, std::span<const std::byte> bytes, std::uint32_t immediate) {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(bytes.data()),
                  static_cast<std::uint32_t>(bytes.size()), 0};
    ibv_send_wr work{};
    work.sg_list = &piece;
    work.num_sge = 1;
    work.opcode = IBV_WR_SEND_WITH_IMM;
    work.send_flags = IBV_SEND_INLINE;
    work.imm_data = htonl(immediate);
    from.post(work);
  }
  /// The lying peer reads or writes at an invented address, or at one that it was shown.
  void reach(std::uint32_t key, std::uint64_t address, std::uint8_t size, ibv_wr_opcode how) {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(theirs.data()) % 4096, size % 200u + 1,
                  known->local_key()};
    ibv_send_wr work{};
    work.sg_list = &piece;
    work.num_sge = 1;
    work.opcode = how;
    work.wr.rdma = {address, key};
    liar->post(work);
  }
  /// This side reads or writes where the lying peer says.
  void move(std::uint64_t name, std::uint8_t size, bool write) {
    const runtime::engine::holder hold(turns);
    if (!out) return;
    const remote_address at = remote_address::unpack(name);
    const std::size_t n = size % (moved.size() + 1);
    const const_buffer from(moved.data(), n);
    const mutable_buffer into(moved.data(), n);
    const post answer =
        write ? out->put(gather({&from, 1}), at, n, 1) : out->get(scatter({&into, 1}), at, n, 1);
    check(answer == post::posted || n == 0 || answer == post::busy || answer == post::failed,
          "a move has begun, or not");
  }
  void show() {
    const runtime::engine::holder hold(turns);
    if (!out) return;
    out->expose(readable);
    out->expect(writable);
  }
  void let_go() {
    const runtime::engine::holder hold(turns);
    if (!out) return;
    if (const auto at = out->expect(writable); at) out->withdraw(*at);
    out->let_go();
  }
  void poll() {
    while (turns.poll_once() != 0) continue;
  }
};

}  // namespace

void run(input in) {
  stage s;
  s.elsewhere.inline_bytes = verbs::slot_bytes;
  while (!in.empty()) {
    switch (in.get<std::uint8_t>() % 10) {
      case 0:
        s.offer(in.bytes(sizeof(verbs::queue_pair_address)));
        break;
      case 1: {
        const auto immediate = in.get<std::uint32_t>();
        const auto n = in.get<std::uint16_t>();
        s.send(*s.liar, in.bytes(n % (verbs::slot_bytes + 1)), immediate);
        break;
      }
      case 2: {
        if (!s.out) break;
        const runtime::engine::holder hold(s.turns);
        s.out->send_contiguous({0, 0, 1, 0, 0}, nullptr, nullptr);
        break;
      }
      case 3: {
        s.poll();
        break;
      }
      case 4:
        s.open(in.bytes(sizeof(verbs::queue_pair_address)));
        break;
      case 5: {
        const runtime::engine::holder hold(s.turns);
        if (s.out) break;  // it would wait for an answer
        s.here.forget(s.of_liar);
        s.of_liar = {};
        break;
      }
      case 6: {
        const auto key = in.get<std::uint8_t>();
        const auto address = in.get<std::uint16_t>();
        const auto size = in.get<std::uint8_t>();
        s.reach(key, address, size,
                key % 2 != 0 ? IBV_WR_RDMA_READ
                : size < 100 ? IBV_WR_RDMA_WRITE
                             : IBV_WR_RDMA_WRITE_WITH_IMM);
        break;
      }
      case 7: {
        const auto name = in.get<std::uint64_t>();
        const auto size = in.get<std::uint8_t>();
        s.move(name, size, name % 2 == 0);
        break;
      }
      case 8:
        s.show();
        break;
      default:
        s.let_go();
    }
    check(s.readable == std::vector<std::byte>(100, std::byte{1}),
          "what may be read is not written");
  }
  s.poll();
  const unsigned before = s.of_honest.frames;
  const frame_header plain{0, 0, 1, 0, 0};
  s.send(*s.honest, std::as_bytes(std::span(&plain, 1)), 0);
  s.poll();
  check(s.of_honest.frames == before + 1 && !s.of_honest.told, "another peer is unharmed");
}

}  // namespace weft::fuzz
