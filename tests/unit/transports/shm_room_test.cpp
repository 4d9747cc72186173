// SPDX-License-Identifier: Apache-2.0
// A sender with a full ring, and what the receiver tells it.
#include <array>
#include <memory>

#include "support/catch.hpp"
#include "transports/shm/transport.hpp"

using namespace weft::transports;
using namespace weft::transports::shm;
namespace runtime = weft::runtime;

namespace {

struct room_counter final : frame_sink {
  bool on_frame(const frame_header&, const frame_extension*, const std::byte*) noexcept override {
    return true;
  }
  void on_writable() noexcept override { ++rooms; }
  void on_broken(weft::errc) noexcept override {}
  int rooms = 0;
};

struct shm_side {
  runtime::doorbell own_bell{true};
  shm_transport shm{own_bell, copy_method::automatic, 1};
  room_counter in;
  const counterpart who{0, [](wireup_message) {}};
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
  wireup_message offer, answer;
  std::unique_ptr<weft::transports::link> ring = sender.shm.open(sender.in, sender.who, offer);
  REQUIRE(receiver.shm.accept(receiver.in, receiver.who, std::move(offer), answer).empty());
  REQUIRE(ring->opened(std::move(answer)).empty());
  CHECK_FALSE(receiver.shm.has_unconsumed());

  while (send_one(*ring) == post::done) {
  }
  while (receiver.shm.poll() != 0) {
  }
  receiver.shm.has_work();  // tells how far it has read
  CHECK(receiver.shm.bells_rung() == 0);
  CHECK(receiver.shm.has_unconsumed());

  sender.own_bell.arm_computing(true);
  receiver.shm.wake_peer();
  CHECK(receiver.shm.bells_rung() == 1);
  receiver.shm.wake_peer();
  CHECK(receiver.shm.bells_rung() == 1);

  CHECK(sender.shm.poll() == 1);
  CHECK(sender.in.rooms == 1);
  CHECK_FALSE(receiver.shm.has_unconsumed());
  ring.reset();
}
