// SPDX-License-Identifier: Apache-2.0
// How a channel, a process or a peer ended.
#pragma once

#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <weft/error.hpp>

namespace weft::proto {

/// One value from a channel's end to those of the operations: src/connections/README.md, "A peer
/// dies in a call". Its copies do not throw: without memory the code has to do.
struct ended {
  // Not explicit: `end({errc::closed, "it has left"})`.
  ended(errc e, std::string_view sentence = {}) noexcept : why(e) {
    try {
      detail = sentence;
    } catch (const std::bad_alloc&) {
      // No memory: the code tells most of it.
    }
  }
  ended(const ended& other) noexcept : ended(other.why, other.detail) {}
  ended(ended&&) noexcept = default;
  ended& operator=(ended other) noexcept {
    why = other.why;
    detail = std::move(other.detail);
    return *this;
  }
  ~ended() = default;

  /// This side or the other one closed it; else it broke, or one of them did wrong.
  bool orderly() const noexcept { return why == errc::closed; }

  errc why;
  std::string detail;  ///< a sentence without its subject, for people: "it has left"
};

}  // namespace weft::proto
