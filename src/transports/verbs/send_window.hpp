// SPDX-License-Identifier: Apache-2.0
// How far this side is ahead of what its peer has read.
#pragma once

#include <optional>

#include "transports/verbs/memory.hpp"
#include "transports/verbs/wire.hpp"

namespace weft::transports::verbs {

/// Frames that count, sent by this side: at most `window` of them may be unread. Owned by a pair;
/// progress lock held only.
class send_window {
 public:
  bool is_full() const noexcept { return ahead() >= window; }
  /// Whether a sender that found it full is to try again: not after every frame that is read.
  bool is_worth_a_call() const noexcept { return ahead() <= window - window / 4; }

  /// Where the peer wants the next frame; nothing: it is sent. The slot is free: with a frame in it
  /// that was not read, the window would be full.
  std::optional<named_place> next_place(const queue_pair_address& there) const noexcept {
    if (there.inbox == 0) return {};
    return named_place{there.inbox_key, sent_ % window * slot_stride};
  }

  void sent() noexcept { ++sent_; }
  /// \param read how many frames the peer has read, as it says \return false: it cannot be
  bool take(std::uint32_t read) noexcept {
    if (read - read_ > ahead()) return false;
    read_ = read;
    return true;
  }

 private:
  std::uint32_t ahead() const noexcept { return sent_ - read_; }

  std::uint32_t sent_ = 0, read_ = 0;  // modulo 2^32
};

}  // namespace weft::transports::verbs
