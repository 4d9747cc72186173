// SPDX-License-Identifier: Apache-2.0
// One node's part in a world.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transports/fake/world.hpp"

namespace weft::transports::fake {

/// One direction between two nodes. Owned by the sender's link and the receiver's transport.
struct wire {
  struct frame {
    time due;
    frame_header header;
    bool extended = false;
    frame_extension extension;
    std::vector<std::byte> payload;  // exactly as long, so that a sanitizer sees a read beyond it
  };

  node from = 0;
  node to = 0;
  inlet* sender = nullptr;
  inlet* receiver = nullptr;  // null: not accepted, or forgotten
  std::deque<frame> frames;
  bool refused = false;  // a frame found no room
  bool broken = false;   // one of the two nodes is dead
};

/// See transports/transport.hpp. Everything on the test's one thread, with the baton of the node's
/// engine held.
class fake_transport final : public transport {
 public:
  fake_transport(world& where, node n, runtime::engine& e);
  ~fake_transport() override;

  const transports::traits& traits() const noexcept override { return world_.traits_; }
  std::string reach(bool is_self) const override;
  std::unique_ptr<link> open(inlet& from, const counterpart& who, parcel& offer) override;
  std::string accept(inlet& to, const counterpart& who, parcel offer, parcel& answer) override;
  void forget(inlet& from) noexcept override;
  std::string describe() const override { return "fake"; }
  std::string describe(const inlet&) const override { return "fake"; }

  unsigned poll() noexcept override;
  bool has_work() noexcept override;
  void nudge() noexcept override {}

  // For the world.
  runtime::engine& engine() const noexcept { return engine_; }
  std::optional<time> next_frame() const noexcept;
  bool dead() const noexcept { return dead_; }
  void die() noexcept;
  void lose(node other);

 private:
  friend class fake_link;
  unsigned deliver(wire& w) noexcept;
  unsigned tell_losses() noexcept;

  world& world_;
  const node self_;
  runtime::engine& engine_;
  bool dead_ = false;
  std::vector<std::shared_ptr<wire>> in_;
  std::vector<wire*> out_;    // owned by their links
  std::vector<inlet*> lost_;  // to be told
};

}  // namespace weft::transports::fake
