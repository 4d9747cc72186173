// SPDX-License-Identifier: Apache-2.0
// The transport of a process to itself.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include <weft/transport/services.hpp>
#include <weft/transport/transport.hpp>

namespace weft::transports::self {

/// Frames wait in a bounded queue until the next pass, so that the receiver's reaction to a frame
/// never runs inside the call that posted it. Progress lock held only.
class self_transport final : public pollable, public transport {
 public:
  /// \param engine of this context; outlives the transport
  explicit self_transport(services& engine) : engine_(engine) { worth_polling = false; }
  pollable* poll_hook() noexcept override { return this; }
  const transports::traits& traits() const noexcept override;
  std::string reach(bool is_self) const override;
  std::unique_ptr<link> open(frame_sink& from, const counterpart& who,
                             wireup_message& offer) override;
  std::string accept(frame_sink& to, const counterpart& who, wireup_message offer,
                     wireup_message& answer) override;
  void forget(frame_sink& from) noexcept override;
  std::string describe() const override { return "self"; }

  unsigned poll() noexcept override;
  bool has_work() noexcept override { return busy || !frames_.empty(); }

 private:
  friend class self_link;
  struct frame {
    frame_header header;
    bool extended = false;
    frame_extension extension;
    std::vector<std::byte> payload;
  };

  services& engine_;
  std::deque<frame> frames_;
  frame_sink* to_ = nullptr;
  bool refused_ = false;  // a frame found no room
};

}  // namespace weft::transports::self
