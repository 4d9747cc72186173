// SPDX-License-Identifier: Apache-2.0
// Frames of a peer that leaves are still delivered, and do not delay other peers.
#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <utility>

#include "far_side.hpp"
#include "proto/frames/frames.hpp"

namespace weft::test {

namespace {

constexpr std::uint16_t stubs_place = 1;

/// The node gets a link to the context, leaves in good order, and has more frames to deliver.
void go_and_speak_on(met& m) {
  m.offer_of(stubs_place);
  REQUIRE(m.hear().kind == says::answer);
  m.asked.more_comes = true;
  m.channel->close();
  while (m.asked.heard_out == 0) std::this_thread::yield();
}

/// Another node connects, and gets a link to the context, too.
void let_another_in(met& m) {
  node other;
  listener listening =
      run(m.ctx, m.ctx.listen("unix://weft-leaving-" + std::to_string(::getpid())));
  other->request_connection(listening.address(), "", node::into(other.outcomes));
  const endpoint e = run(m.ctx, listening.accept());
  const wireup::channel_ptr channel = other.outcomes.next().channel;
  REQUIRE(channel);
  channel->send(link_parcel(says::offer, stubs_place));
  CHECK(other.wireup_messages.next().wireup_message.kind == says::answer);
}

std::ptrdiff_t forgotten(const met& m) {
  const auto lines = m.asked.lines();
  return std::count(lines.begin(), lines.end(), "forget first");
}

}  // namespace

TEST_CASE("leaving: a peer that goes and speaks on keeps no other from coming") {
  // The peer's frames are taken for a second at most, which a busy machine may have used for other
  // work.
  bool was_heard_meanwhile = false;
  for (int tries = 0; tries != 10 && !was_heard_meanwhile; ++tries) {
    met m;
    go_and_speak_on(m);
    let_another_in(m);
    was_heard_meanwhile = forgotten(m) == 0;
    m.asked.more_comes = false;
    CHECK(m.receives().first == errc::closed);
  }
  CHECK(was_heard_meanwhile);
}

TEST_CASE("leaving: what comes while a peer is heard out is received before it ends") {
  met m;
  go_and_speak_on(m);
  {
    const runtime::engine::holder hold(*m.engine);
    const transports::frame_header whole{5, 1, static_cast<std::uint8_t>(proto::frame_kind::eager),
                                         proto::eager_ends, 0};
    const std::array<std::byte, 1> payload{};
    REQUIRE(m.stubs[0]->last->on_frame(whole, nullptr, payload.data()));
  }
  CHECK(m.receives().first == errc::ok);
  m.asked.more_comes = false;
  CHECK(m.receives().first == errc::closed);
}

TEST_CASE("leaving: who is cut off is not heard out") {
  met m;
  m.offer_of(stubs_place);
  CHECK(m.hear().kind == says::answer);
  m.asked.more_comes = true;
  m.say(wireup::test::make_wireup_message(99, "nonsense"));
  CHECK(m.receives().first == errc::protocol_error);
  CHECK(m.asked.heard_out == 0);
}

TEST_CASE("leaving: who comes again while it is heard out is somebody else") {
  met m;
  go_and_speak_on(m);
  const endpoint again = m.meet();
  CHECK(again.id() != m.peer.id());
  CHECK(forgotten(m) == 1);
  CHECK(m.receives().first == errc::closed);
  m.offer_of(stubs_place);
  CHECK(m.hear().kind == says::answer);
  m.asked.more_comes = false;
}

TEST_CASE("leaving: a context ends while a peer is heard out") {
  auto m = std::make_unique<met>();
  go_and_speak_on(*m);
  log& asked = m->asked;
  std::thread last([&asked, so_far = asked.heard_out.load()] {
    while (asked.heard_out == so_far) std::this_thread::yield();
    asked.more_comes = false;
  });
  { const context ends = std::move(m->ctx); }
  last.join();
  CHECK(forgotten(*m) == 1);
}

}  // namespace weft::test
