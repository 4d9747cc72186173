// SPDX-License-Identifier: Apache-2.0
// Frames that a peer writes into memory of this side, and announces by immediate data.
#include <cstring>

#include "ends.hpp"

using namespace ends;

namespace {

verbs::settings by(eager_operation how) {
  verbs::settings s;
  s.eager = how;
  return s;
}

/// A side with inboxes, and a peer that knows its inbox and keeps no rule.
struct trespass {
  fabric net;
  end victim;
  fake_device elsewhere{net};
  std::unique_ptr<verbs::queue_pair> liar = elsewhere.make_queue_pair();
  verbs::queue_pair_address inside{};

  explicit trespass(eager_operation how) : victim(net, by(how)) {
    elsewhere.inline_bytes = 3 * verbs::slot_stride;
    const verbs::queue_pair_address own{verbs::magic,
                                        verbs::version,
                                        0,
                                        liar->number(),
                                        0,
                                        IBV_MTU_1024,
                                        1,
                                        static_cast<std::uint8_t>(verbs::window),
                                        16,
                                        verbs::slot_bytes,
                                        {},
                                        0,
                                        0};
    wireup_message card, answer;
    card.bytes.resize(sizeof own);
    std::memcpy(card.bytes.data(), &own, sizeof own);
    REQUIRE(victim.accept(std::move(card), answer) == "");
    std::memcpy(&inside, answer.bytes.data(), sizeof inside);
    liar->connect(inside, 0, std::chrono::seconds(1));
  }
  void write(std::size_t at, const bytes& data, bool announced = true) {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(data.data()),
                  static_cast<std::uint32_t>(data.size()), 0};
    ibv_send_wr work{};
    work.sg_list = &piece;
    work.num_sge = 1;
    work.opcode = announced ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    work.send_flags = IBV_SEND_INLINE;
    work.wr.rdma = {at, inside.inbox_key};
    REQUIRE(liar->post(work) == 0);
  }
  void settle() {
    while (victim.turns.poll_once() != 0) continue;
  }
};

bytes written_frame(std::uint64_t tag, std::uint32_t says, std::size_t has) {
  const frame_header h{tag, says, 1, 0, 0};
  bytes b(sizeof h + has);
  std::memcpy(b.data(), &h, sizeof h);
  return b;
}

}  // namespace

TEST_CASE("verbs: one side gets its frames written, the other sent, many times round") {
  fabric net;
  end a(net, by(eager_operation::send)), b(net, by(eager_operation::write));
  a.hardware.inline_bytes = b.hardware.inline_bytes = GENERATE(0u, 128u);
  connect(a, b);
  connect(b, a);
  constexpr std::uint64_t most = 1000;  // many times the window
  for (end* from : {&a, &b}) {
    end& to = from == &a ? b : a;
    for (std::uint64_t n = 0; n != most;)
      if (from->send(numbered(n), pattern(n * 37 % 8193, n)) == post::done)
        ++n;
      else
        settle(a, b);
    settle(a, b);
    REQUIRE(to.in.frames.size() == most);
    for (std::uint64_t n = 0; n != most; ++n)
      if (to.in.frames[n].header.tag != n || to.in.frames[n].payload != pattern(n * 37 % 8193, n))
        FAIL("frame " << n);
    CHECK(to.in.broken.empty());
  }
  CHECK(a.hardware.written_frames == most);
  CHECK(b.hardware.written_frames == 0);
}

TEST_CASE("verbs: a frame's slot is not given back while the frame is read") {
  struct : frame_sink {
    bool on_frame(const frame_header& h, const frame_extension*,
                  const std::byte*) noexcept override {
      given_back_early = given_back_early || in.read() > h.tag;
      return true;
    }
    void on_transferred(std::uint64_t, bool) noexcept override {}
    void on_writable() noexcept override {}
    void on_broken(errc) noexcept override {}
    verbs::port in;
    bool given_back_early = false;
  } sink;
  for (std::uint64_t n = 0; n != 3; ++n)
    REQUIRE(sink.in.take(written_frame(n, 0, 0), &sink) == verbs::port::verdict::fine);
  CHECK(!sink.given_back_early);
  CHECK(sink.in.read() == 3);
}

TEST_CASE("verbs: an inbox is memory of its connection, and ends with it") {
  fabric net;
  end a(net), b(net, by(eager_operation::write));
  connect(b, a);
  const std::size_t with = b.hardware.regions_known();
  b.drop_link();
  CHECK(b.hardware.regions_known() == with - 1);
  b.hardware.lockable = verbs::inbox_bytes - 1;
  CHECK_THROWS_WITH(b.open(), weft::tests::contains("memory to lock"));
}

TEST_CASE("verbs: a peer that announces what is no frame is reported as that") {
  trespass t(eager_operation::write);
  SECTION("more than a slot") { t.write(0, written_frame(0, 8200, verbs::slot_bytes)); }
  SECTION("as much as a slot and the next") {
    t.write(0, written_frame(0, 2 * verbs::slot_stride - 16, 2 * verbs::slot_stride - 16));
  }
  SECTION("less than it says") { t.write(0, written_frame(0, 100, 99)); }
  SECTION("nothing") { t.write(0, {}); }
  SECTION("what it has not written") { t.write(verbs::slot_stride, written_frame(0, 0, 8)); }
  t.settle();
  CHECK(t.victim.in.broken == std::vector<errc>{errc::protocol_error});
}

TEST_CASE("verbs: a write is no frame to a side that has no inbox") {
  trespass t(eager_operation::send);
  CHECK(t.inside.inbox == 0);
  t.write(0, {});
  t.settle();
  CHECK(t.victim.in.frames.empty());
  CHECK(t.victim.in.broken == std::vector<errc>{errc::protocol_error});
}

TEST_CASE("verbs: writes beyond an inbox, or into it unannounced, harm their own connection only") {
  trespass t(eager_operation::write);
  t.write(5 * verbs::slot_stride, bytes(100), false);  // a slot whose turn has not come
  t.settle();
  CHECK(t.victim.in.broken.empty());
  SECTION("the frame that has its turn is not touched by that") {
    t.write(0, written_frame(7, 3, 3));
    t.settle();
    REQUIRE(t.victim.in.frames.size() == 1);
    CHECK(t.victim.in.frames[0].header.tag == 7);
  }
  SECTION("beyond") {
    t.write(verbs::inbox_bytes - 10, bytes(5000));
    t.victim.hardware.tell({"access error", t.inside.queue_pair});
    CHECK(eventually(t.victim, t.victim, [&] { return !t.victim.in.broken.empty(); }));
    CHECK(t.victim.in.broken == std::vector<errc>{errc::peer_lost});
  }
}

TEST_CASE("verbs: an inbox of another size is refused") {
  fabric net;
  end fresh(net);
  wireup_message card = fresh.open(), answer;
  verbs::queue_pair_address c;
  std::memcpy(&c, card.bytes.data(), sizeof c);
  c.inbox = GENERATE(1u, verbs::inbox_bytes - 1, ~0u);
  std::memcpy(card.bytes.data(), &c, sizeof c);
  end other(net);
  CHECK(other.accept(std::move(card), answer) != "");
}
