// SPDX-License-Identifier: Apache-2.0
// Receives that make their memory when they know their message: on every way a message goes.
#include <iterator>
#include <string>

#include <weft/detail/value_ops.hpp>

#include "net.hpp"

using namespace net;
using weft::at_most;
using weft::detail::sized_recv_operation;
using weft::detail::sized_target;

namespace {

/// What a sized receive fills: memory that can be refused, and counts how often it was made.
struct vessel {
  bytes memory;
  int made = 0;
  bool refuses = false;
  std::size_t asked_for = 0;

  static bool resize(void* self, std::size_t count, weft::mutable_buffer& all) noexcept {
    auto& v = *static_cast<vessel*>(self);
    ++v.made;
    v.asked_for = count;
    if (v.refuses) return false;
    v.memory.resize(count);
    all = v.memory;
    return true;
  }
  sized_target target(std::size_t element = 1, at_most limit = {}) {
    return {this, &resize, element, limit, memory};
  }
};

/// A receive of node 0.
class sized_post final : public sized_recv_operation {
 public:
  sized_post(nodes& n, const sized_target& to, fake::node from = 1)
      : sized_recv_operation({&n[0].messages, &n[0].to(from), weft::tag{5}, weft::mutable_buffer{}},
                             to, &count) {}
  void go() {
    if (this->start()) ++ends;
  }
  int ends = 0;

 private:
  static void count(weft::operation& op) noexcept { ++static_cast<sized_post&>(op).ends; }
};

/// Whether the receive waits for its message, or the message for the receive.
enum class comes_first { receive, message };

/// Sizes on all ways: one frame, several frames, rendezvous with and without eager data.
const std::size_t sized_sizes[] = {1, 100, 5000, 9000, 60'000, 400'000};

/// Sends one message of `size` bytes to a receive, and then an ordinary one.
void meet_sized(nodes& n, sized_post& op, std::size_t size, comes_first order) {
  const bytes out = pattern(size, 3);
  if (order == comes_first::receive) op.go();
  auto sent = n[1].send(0, out, tag{5});
  n.settle();
  if (order == comes_first::message) op.go();
  n.settle();
  REQUIRE(op.ends == 1);
  REQUIRE(sent->ended_with(errc::ok));
  bytes in(10);
  auto next = n[0].recv(1, in, tag{5});
  auto later = n[1].send(0, pattern(10), tag{5});
  n.settle();
  CHECK(next->ended_with(errc::ok));
  CHECK(later->ended_with(errc::ok));
  CHECK(n.clean());
}

}  // namespace

TEST_CASE("sized receive: gets memory for its message, once") {
  const std::size_t size = GENERATE(from_range(std::begin(sized_sizes), std::end(sized_sizes)));
  const comes_first order = GENERATE(comes_first::receive, comes_first::message);
  const std::size_t before = GENERATE(std::size_t{0}, std::size_t{50}, std::size_t{500'000});
  CAPTURE(size, static_cast<int>(order), before);
  nodes n(2);
  vessel v;
  v.memory.resize(before);
  sized_post op(n, v.target());
  meet_sized(n, op, size, order);
  CHECK(op.status == errc::ok);
  CHECK((v.memory == pattern(size, 3)));
  CHECK(v.made == 1);
}

TEST_CASE("sized receive: a message that it does not take is dropped, and its sender goes on") {
  const std::size_t size = GENERATE(from_range(std::begin(sized_sizes), std::end(sized_sizes)));
  const comes_first order = GENERATE(comes_first::receive, comes_first::message);
  CAPTURE(size, static_cast<int>(order));
  nodes n(2, {}, {256u << 10, 64u << 10});
  vessel v;
  SECTION("no memory") {
    v.refuses = true;
    sized_post op(n, v.target());
    meet_sized(n, op, size, order);
    CHECK(op.status == errc::out_of_memory);
    CHECK_THAT(op.explain(),
               weft::tests::contains("no memory for a message of " + std::to_string(size)));
  }
  SECTION("too long") {
    sized_post op(n, v.target(1, {size - 1}));
    meet_sized(n, op, size, order);
    CHECK(op.status == errc::truncated);
    CHECK_THAT(op.explain(),
               weft::tests::contains("message of " + std::to_string(size) + " bytes") &&
                   weft::tests::contains(std::to_string(size - 1)));
    CHECK(v.made == 0);
  }
  SECTION("no whole number of elements") {
    sized_post op(n, v.target(7));
    meet_sized(n, op, size, order);
    CHECK(op.status == errc::protocol_error);
    CHECK_THAT(op.explain(),
               weft::tests::contains("message of " + std::to_string(size) + " bytes") &&
                   weft::tests::contains("elements of 7 bytes"));
    CHECK(v.made == 0);
  }
  CHECK(n[0].to(1).writer().credit_state().in_use == 0);
}

TEST_CASE("sized receive: a peer that announces a message without end gets no memory") {
  using namespace weft::proto;
  const std::uint64_t announced = GENERATE(at_most{}.bytes + 1, max_message);
  nodes n(3);
  const auto link = n.raw_link(2, 0);
  vessel v;
  const bool waits = GENERATE(true, false);
  CAPTURE(announced, waits);
  sized_post receive(n, v.target(), 2);
  if (waits) receive.go();
  const frame_extension x{std::uint64_t{1} << 48 | announced, 0, 0};
  weft::transports::gather none;
  REQUIRE(
      link->send(header_of(frame_kind::rts, 5, 0,
                           static_cast<std::uint8_t>(eager_ends | weft::transports::has_extension)),
                 &x, none) == weft::transports::post::done);
  n.settle();
  if (!waits) receive.go();
  n.settle();
  CHECK(receive.ends == 1);
  CHECK(receive.status == errc::truncated);
  CHECK(v.made == 0);
  CHECK_FALSE(n[0].to(2).has_ended());
}

TEST_CASE("sized receive: a stop leaves the message to the next receive") {
  nodes n(2);
  vessel v;
  sized_post op(n, v.target());
  op.go();
  op.cancel();
  n.settle();
  CHECK(op.ends == 1);
  CHECK(op.status == errc::stopped);
  const std::size_t size = GENERATE(std::size_t{100}, std::size_t{400'000});
  const bytes out = pattern(size);
  bytes in(size);
  auto sent = n[1].send(0, out, tag{5});
  auto received = n[0].recv(1, in, tag{5});
  n.settle();
  CHECK(received->ended_with(errc::ok));
  CHECK((in == out));
  CHECK(v.made == 0);
}

TEST_CASE("sized receive: the loss of the peer ends it in the middle of its message") {
  const std::size_t size = GENERATE(std::size_t{100}, std::size_t{400'000});
  nodes n(2);
  vessel v;
  sized_post op(n, v.target());
  op.go();
  const bytes out = pattern(size);
  auto sent = n[1].send(0, out, tag{5});
  n.step();
  n.world.kill(1);
  n.settle();
  CHECK(op.ends == 1);
  CHECK((op.status == errc::ok || op.status == errc::peer_lost));
}
