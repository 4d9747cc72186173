// SPDX-License-Identifier: Apache-2.0
// Credit of one connection, in both directions. Pure: uses no frame, no link and no lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proto/frames/frames.hpp"

namespace weft::proto {

/// The credit of this side and of the peer, in units of `credit_unit` bytes. The receiver grants a
/// window. A message holds a part of it until it is matched; then that part is returned, on the
/// next frame or, when much is to be returned, in a frame of its own. Model:
/// tests/models/credits.pml. Guarded by the progress lock, like the connection.
class flow_control {
 public:
  // --- sending --------------------------------------------------------------------------------

  /// Units that may still be sent.
  std::int64_t credit() const noexcept { return credit_; }
  /// \param answers the message is an answer, for which the last credit is kept: the peer takes it
  ///   at once, while all other credit may be in messages that wait for something of this side
  bool can_begin_message(bool answers) const noexcept {
    return credit_ >= (answers ? 0 : answer_units) + message_units;
  }
  /// Whether a message without payload leaves too little for another one that is no answer.
  bool begins_last_message() const noexcept {
    return credit_ < answer_units + 2 * std::int64_t{message_units};
  }
  void set_credit(std::int64_t units) noexcept { credit_ = units; }
  void add_credit(std::uint32_t units) noexcept { credit_ += units; }
  void spend(std::uint32_t units) noexcept { credit_ -= units; }

  // --- receiving ------------------------------------------------------------------------------

  /// Units granted in all; 0 before the first grant and after the end.
  std::uint32_t window() const noexcept { return credit_window_; }
  void set_window(std::uint32_t units) noexcept {
    usable_ += units - credit_window_;
    credit_window_ = units;
    return_at_ = std::clamp<std::uint32_t>(units / 2, 1, latest_return);
  }
  /// Units that the peer may know of and has not used.
  std::uint32_t usable() const noexcept { return usable_; }
  /// Units in messages that are not matched yet.
  std::uint32_t in_use() const noexcept { return credit_window_ - usable_ - to_return_; }
  /// Units that are free again and that the peer has not been told of.
  std::uint32_t to_return() const noexcept { return to_return_; }

  /// A message came, or a part of one, and is not matched yet.
  void hold(std::uint32_t units) noexcept { usable_ -= units; }
  /// Held units are not returned: the connection fails.
  void forget(std::uint32_t units) noexcept { usable_ += units; }
  /// Held units are matched. \return whether to return credit in a frame of its own: much is to be
  /// returned, or the peer cannot begin another message. Without that frame the peer could wait
  /// forever, and so could a receive on this side for the message that the peer cannot begin.
  bool release(std::uint32_t units) noexcept {
    to_return_ += units;
    const bool exhausted = usable() < answer_units + message_units;
    peer_waits_ = peer_waits_ || exhausted;
    return exhausted || must_return();
  }
  /// A message came and was matched at once.
  void pass(std::uint32_t units) noexcept {
    usable_ -= units;
    to_return_ += units;
  }
  /// It is stored after all: `hold` follows.
  void unpass(std::uint32_t units) noexcept { returned(units); }
  bool must_return() const noexcept { return to_return_ >= return_at_; }

  /// As much as one frame returns: its header has 16 bits for it.
  std::uint16_t for_next_frame() const noexcept {
    return static_cast<std::uint16_t>(std::min<std::uint32_t>(to_return_, 0xffff));
  }
  /// A frame has left with so many units.
  void returned(std::uint32_t units) noexcept {
    usable_ += units;
    to_return_ -= units;
  }

  /// An rts said that more would have come, or would come next, with more credit: the peer waits
  /// for the next return.
  void note_peer_waits() noexcept { peer_waits_ = true; }
  /// \return whether the peer waits for the credit that leaves now
  bool stop_waiting() noexcept { return std::exchange(peer_waits_, false); }

  /// Whether the window may grow: unexpected messages hold most of it, and it is below the size
  /// beyond which growth does not help.
  bool should_grow() const noexcept {
    return credit_window_ < largest_window && in_use() > credit_window_ / 2;
  }
  /// Whether the peer cannot begin another message, also with all that is owed to it.
  bool is_used_up() const noexcept {
    return credit_window_ - in_use() < answer_units + message_units;
  }
  void grow(std::uint32_t units) noexcept {
    set_window(credit_window_ + units);
    pass(units);
  }

  /// The connection has ended. \return the units that no message holds; held ones are released
  ///   one by one
  std::uint32_t end() noexcept {
    const std::uint32_t free = credit_window_ - in_use();
    returned(to_return_);
    usable_ -= std::exchange(credit_window_, 0);
    return_at_ = 1;
    return free;
  }
  /// After the end: the units that were released since.
  std::uint32_t take_released() noexcept {
    const std::uint32_t released = to_return_;
    returned(released);
    return released;
  }

 private:
  // Credit is returned in a frame of its own from half the window on, and at the latest from this
  // much on: 256 KiB.
  static constexpr std::uint32_t latest_return = 4096;

  std::int64_t credit_ = 0;
  std::uint32_t credit_window_ = 0;
  std::uint32_t usable_ = 0;  // the window without what is in use or to be returned; after the end
                              // below 0, by what is in use
  std::uint32_t to_return_ = 0;
  std::uint32_t return_at_ = 0;
  bool peer_waits_ = false;
};

}  // namespace weft::proto
