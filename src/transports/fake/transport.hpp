// SPDX-License-Identifier: Apache-2.0
// The transport of one node of a world.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/descriptors/event_fd.hpp"
#include "transports/fake/world.hpp"

namespace weft::transports::fake {

/// See weft/transport/transport.hpp. All with the progress lock of the node's engine held; on the
/// test's one thread, unless the world runs in real time.
class fake_transport final : public pollable, public transport {
 public:
  fake_transport(world& where, node n, runtime::engine& e, const manner& how);
  ~fake_transport() override;

  pollable* poll_hook() noexcept override { return this; }
  const transports::traits& traits() const noexcept override { return traits_; }
  std::string reach(bool is_self) const override;
  std::unique_ptr<link> open(frame_sink& from, const counterpart& who,
                             wireup_message& offer) override;
  std::string accept(frame_sink& to, const counterpart& who, wireup_message offer,
                     wireup_message& answer) override;
  void forget(frame_sink& from) noexcept override;
  std::string describe() const override { return std::string(manner_.name); }
  std::string describe(const frame_sink&) const override { return describe(); }

  unsigned poll() noexcept override;
  bool has_work() noexcept override;
  int handle() const noexcept override { return bell_ ? bell_->fd() : -1; }
  void on_ready() noexcept override { rung_ = true; }

  // For the world.
  std::optional<time> next_moment() const noexcept;  ///< of the next arrival or end of a transfer
  /// \param told whether frames vanish with it
  void die(bool told) noexcept;
  /// \param known whether the other node is told, too
  void lose(node other, bool known);
  void ring() noexcept { bell_->ring(); }

 private:
  friend class fake_link;
  friend class world;
  bool place(wire& w, bool all) noexcept;
  bool places(const wire& w, const wire::frame& f) const noexcept;
  unsigned deliver(wire& w, std::size_t most, time until) noexcept;
  bool has_room(const wire& w) const noexcept {
    return w.frames.size() + w.vanished < manner_.room && w.transfers.size() < manner_.transfers;
  }
  unsigned tell_losses() noexcept;
  post append(wire& w, const frame_header& header, const frame_extension* extension, gather& data,
              bool may_hold) noexcept;
  unsigned end_transfers(wire& w, time until) noexcept;

  world& world_;
  const node self_;
  const manner manner_;
  const transports::traits traits_;
  std::optional<runtime::event_fd> bell_;  // in real time
  bool rung_ = false;                      // the bell was rung; poll() drains it
  bool dead_ = false;
  std::vector<std::shared_ptr<wire>> in_;
  std::vector<wire*> out_;         // owned by their links
  std::vector<frame_sink*> lost_;  // frame sinks that will get on_broken
  std::uint16_t last_shown_ = 0;
};

}  // namespace weft::transports::fake
