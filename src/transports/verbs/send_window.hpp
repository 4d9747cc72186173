// SPDX-License-Identifier: Apache-2.0
// How far this side is ahead of what its peer has read.
#pragma once

#include <cstdint>

#include "transports/verbs/wire.hpp"

namespace weft::transports::verbs {

/// Frames that count, sent by this side: at most `window` of them may be unread. Owned by a pair;
/// progress lock held only.
class send_window {
 public:
  bool is_full() const noexcept { return ahead() >= window; }
  /// Whether a sender that found it full is to try again: not after every frame that is read.
  bool is_worth_a_call() const noexcept { return ahead() <= window - window / 4; }

  /// The number of the next frame, modulo 2^32.
  std::uint32_t next() const noexcept { return sent_; }

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
