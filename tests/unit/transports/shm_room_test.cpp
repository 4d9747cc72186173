// SPDX-License-Identifier: Apache-2.0
// A sender whose ring is full, and what the receiver tells it.
#include <array>
#include <memory>

#include <catch2/catch.hpp>

#include "transports/shm/transport.hpp"

using namespace weft::transports;
using namespace weft::transports::shm;
namespace runtime = weft::runtime;

namespace {

struct room_counter final : inlet {
  bool on_frame(const frame_header&, const frame_extension*, const std::byte*) noexcept override {
    return true;
  }
  void on_room() noexcept override { ++rooms; }
  void on_broken(weft::errc) noexcept override {}
  int rooms = 0;
};

struct shm_side {
  runtime::doorbell door{true};
  shm_transport shm{door, large_way::automatic, 1};
  room_counter in;
  const counterpart who{0, [](parcel) {}};
  ~shm_side() { shm.forget(in); }
};

post send_one(weft::transports::link& to) {
  const std::array<std::byte, 8> data{};
  const weft::const_buffer one(data);
  weft::transports::gather pieces({&one, 1});
  frame_header h;
  h.size = data.size();
  return to.send(h, nullptr, pieces);
}

}  // namespace

TEST_CASE("shm: who goes away wanting room, just when there is some, is told again") {
  shm_side sender, receiver;
  parcel offer, answer;
  std::unique_ptr<weft::transports::link> ring = sender.shm.open(sender.in, sender.who, offer);
  REQUIRE(receiver.shm.accept(receiver.in, receiver.who, std::move(offer), answer).empty());
  REQUIRE(ring->opened(std::move(answer)).empty());
  CHECK_FALSE(receiver.shm.has_unseen());

  while (send_one(*ring) == post::done) {
  }
  while (receiver.shm.poll() != 0) {
  }
  receiver.shm.has_work();  // tells how far it has read
  CHECK(receiver.shm.bells_rung() == 0);
  CHECK(receiver.shm.has_unseen());

  sender.door.arm_away(true);
  receiver.shm.nudge();
  CHECK(receiver.shm.bells_rung() == 1);
  receiver.shm.nudge();
  CHECK(receiver.shm.bells_rung() == 1);

  CHECK(sender.shm.poll() == 1);
  CHECK(sender.in.rooms == 1);
  CHECK_FALSE(receiver.shm.has_unseen());
  ring.reset();
}
