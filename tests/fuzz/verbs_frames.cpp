// SPDX-License-Identifier: Apache-2.0
// The other end of a queue pair offers and sends what it likes: every payload that is delivered is
// as long as it says, nothing comes after the first broken rule, and what it did to its own
// connection leaves another one as it was.
#include <vector>

#include "runtime/engine.hpp"
#include "support/verbs_fabric.hpp"
#include "target.hpp"
#include "transports/verbs/transport.hpp"

namespace weft::fuzz {

namespace {

using namespace transports;
using tests::fabric;
using tests::fake_device;

/// Looks at all that it is handed.
class listener final : public inlet {
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
  void on_room() noexcept override { check(!told, "no room is made by who is broken"); }
  void on_broken(errc) noexcept override {
    check(!told, "an end is told of once");
    over = told = true;
  }
};

parcel bytes_of(std::span<const std::byte> bytes) { return {0, {bytes.begin(), bytes.end()}, {}}; }

verbs::calling_card card_in(const parcel& p) {
  verbs::calling_card c{};
  if (p.bytes.size() == sizeof c) std::memcpy(&c, p.bytes.data(), sizeof c);
  return c;
}

/// This side, with the one that lies and another one.
struct stage {
  fabric net;
  fake_device elsewhere{net};
  std::unique_ptr<verbs::queue_pair> liar = elsewhere.make_queue_pair();
  std::unique_ptr<verbs::queue_pair> honest = elsewhere.make_queue_pair();
  runtime::engine turns{progress_mode::polling, {}, "epoll"};
  listener of_liar, of_honest;
  verbs::verbs_transport here{turns, {}, std::make_unique<fake_device>(net)};
  const counterpart who{};
  std::unique_ptr<link> out;

  stage() {
    turns.add(here);
    const runtime::engine::holder hold(turns);
    verbs::calling_card card{};
    parcel own;
    card = {verbs::magic,  verbs::version,    0, honest->number(), 0, 4, 1,
            verbs::window, verbs::slot_bytes, {}};
    check(here.accept(of_honest, who, bytes_of(std::as_bytes(std::span(&card, 1))), own).empty(),
          "an honest peer is accepted");
    honest->connect(card_in(own), 0, std::chrono::seconds(1));
  }
  ~stage() {
    const runtime::engine::holder hold(turns);
    out.reset();
  }

  void offer(std::span<const std::byte> bytes) {
    const runtime::engine::holder hold(turns);
    parcel answer;
    if (here.accept(of_liar, who, bytes_of(bytes), answer).empty()) connect(answer);
  }
  void open(std::span<const std::byte> bytes) {
    const runtime::engine::holder hold(turns);
    if (out) return;
    parcel own;
    try {
      out = here.open(of_liar, who, own);
    } catch (const error&) {
      return;  // the connection has ended
    }
    connect(own);
    if (!out->opened(bytes_of(bytes)).empty()) out.reset();
  }
  void connect(const parcel& card) { liar->connect(card_in(card), 0, std::chrono::seconds(1)); }
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
  void poll() {
    while (turns.poll_once() != 0) continue;
  }
};

}  // namespace

void run(input in) {
  stage s;
  s.elsewhere.inline_bytes = verbs::slot_bytes;
  while (!in.empty()) {
    switch (in.get<std::uint8_t>() % 6) {
      case 0:
        s.offer(in.bytes(sizeof(verbs::calling_card)));
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
        s.out->send_together({0, 0, 1, 0, 0}, nullptr, nullptr);
        break;
      }
      case 3: {
        s.poll();
        break;
      }
      case 4:
        s.open(in.bytes(sizeof(verbs::calling_card)));
        break;
      default: {
        const runtime::engine::holder hold(s.turns);
        if (s.out) break;  // it would wait for an answer
        s.here.forget(s.of_liar);
        s.of_liar = {};
      }
    }
  }
  s.poll();
  const unsigned before = s.of_honest.frames;
  const frame_header plain{0, 0, 1, 0, 0};
  s.send(*s.honest, std::as_bytes(std::span(&plain, 1)), 0);
  s.poll();
  check(s.of_honest.frames == before + 1 && !s.of_honest.told, "another peer is unharmed");
}

}  // namespace weft::fuzz
