// SPDX-License-Identifier: Apache-2.0
// The frames of one connection, by a writer that is made alone: no messenger, no peer, no
// transport.
#include "proto/connection/frame_writer.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "part_alone.hpp"
#include "support/catch.hpp"
#include "support/silent_link.hpp"

using namespace weft;
using namespace weft::proto;
using weft::tests::no_peer_host;
using weft::tests::part_services;

namespace {

constexpr transports::traits plain{.name = "alone", .max_payload = 4096, .fragment = 4096};

/// Keeps the headers of the frames that it takes, unless it is full.
class noting_link final : public weft::tests::silent_link {
 public:
  noting_link(std::vector<frame_header>& to, const bool& full)
      : silent_link(plain), to_(to), full_(full) {}
  transports::post send(const frame_header& h, const frame_extension*,
                        transports::gather&) noexcept override {
    if (full_) return transports::post::busy;
    to_.push_back(h);
    return transports::post::done;
  }

 private:
  std::vector<frame_header>& to_;
  const bool& full_;
};

/// A writer on a connection of its own.
struct alone {
  explicit alone(std::size_t budget = std::size_t{16} << 20) : services({budget, {}}) {}

  void open() {
    connection.opened(std::make_unique<noting_link>(sent, full));
    writer.set_writable();
  }
  frame_kind kind(std::size_t n) const { return static_cast<frame_kind>(sent.at(n).kind); }

  part_services services;
  no_peer_host host;
  std::vector<frame_header> sent;
  bool full = false;
  peer_connection connection{host, services.upkeep, 7};
  frame_writer writer{services.all, connection};
};

}  // namespace

TEST_CASE("frame_writer: frames wait for the link, and leave in order") {
  alone a;
  a.writer.send_control(frame_kind::matched, 1);
  a.writer.send_control(frame_kind::cancelled, 2);
  CHECK(a.host.wanted == 1);
  CHECK(a.sent.empty());

  a.open();
  REQUIRE(a.writer.flush());
  REQUIRE(a.sent.size() == 2);
  CHECK(a.kind(0) == frame_kind::matched);
  CHECK(a.kind(1) == frame_kind::cancelled);
}

TEST_CASE("frame_writer: passes go on while a full link keeps frames back") {
  alone a;
  a.open();
  a.full = true;
  a.writer.send_control(frame_kind::matched, 1);
  CHECK_FALSE(a.writer.is_writable());
  CHECK(a.services.upkeep.unsent == 1);

  a.full = false;
  a.writer.set_writable();
  CHECK(a.writer.flush());
  CHECK(a.services.upkeep.unsent == 0);
}

TEST_CASE("frame_writer: credit returns on the next frame, or in its own where it is much") {
  alone a;
  a.open();
  const std::uint32_t window = a.writer.grant_first_credit();
  REQUIRE(window > 2 * message_units);

  a.writer.flow().pass(message_units);
  a.writer.settle();
  CHECK(a.sent.empty());
  a.writer.send_control(frame_kind::matched, 1);
  REQUIRE(a.sent.size() == 1);
  CHECK(a.sent[0].credit == message_units);

  while (!a.writer.flow().must_return()) a.writer.flow().pass(message_units);
  const std::uint32_t much = a.writer.flow().to_return();
  a.writer.settle();
  REQUIRE(a.sent.size() == 2);
  CHECK(a.kind(1) == frame_kind::credit);
  CHECK(a.sent[1].credit == much);
  CHECK(a.writer.flow().usable() == window);
}

TEST_CASE("frame_writer: a peer that cannot begin a message gets little credit at once") {
  alone a;
  a.open();
  const std::uint32_t window = a.writer.grant_first_credit();
  a.writer.flow().hold(window);
  a.writer.release_credit(1);
  REQUIRE(a.sent.size() == 1);
  CHECK(a.kind(0) == frame_kind::credit);
  CHECK(a.sent[0].credit == 1);
}

TEST_CASE("frame_writer: a window that the budget cannot grow waits for the budget") {
  alone a(1024);  // the first grant overdraws it
  a.open();
  const std::uint32_t window = a.writer.grant_first_credit();
  a.writer.flow().hold(window);
  a.writer.grow_window();
  CHECK(a.services.upkeep.starved);

  a.services.memory.give_back(4 * window);
  CHECK(a.services.upkeep.budgets == 1);
  a.writer.grow_window();
  CHECK(a.writer.flow().window() > window);
  CHECK_FALSE(a.services.upkeep.starved);
}

TEST_CASE("frame_writer: its end gives the budget back what no message holds") {
  alone a;
  a.open();
  const std::uint32_t before = a.services.memory.left();
  const std::uint32_t window = a.writer.grant_first_credit();
  CHECK(a.services.memory.left() == before - window);
  a.writer.flow().hold(message_units);

  a.connection.end({errc::peer_lost, "the test says so"});
  a.writer.end();
  CHECK(a.services.memory.left() == before - message_units);
  a.writer.release_credit(message_units);
  CHECK(a.services.memory.left() == before);
}
