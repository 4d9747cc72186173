// SPDX-License-Identifier: Apache-2.0
// The receives that the receiver has announced, and which of them the next message meets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/frames/frames.hpp"

namespace weft::proto {

/// The receives that one peer has announced and that no message has met, as far as this side knows:
/// each message takes the first one with its tag, as at the receiver. Messages that were under way
/// when the peer announced them are replayed. An error costs bandwidth only: the receiver matches
/// by itself, and asks for a payload that met no receive. Pure: uses no frame, no link and no lock.
/// Part of the sender.
class early_sends {
 public:
  /// \throws std::bad_alloc
  early_sends() { known_.reserve(most_early); }

  /// A frame of a message has left. \param begins it is its first one
  void sent(std::uint64_t tag, std::uint32_t units, bool begins) noexcept;

  /// The peer announces receives. \param usable the units that this side could still send, as far
  /// as the peer knew \param credit the units that it can still send
  /// \return false: no correct peer says that
  bool on_early(const std::byte* data, std::size_t size, std::uint64_t usable,
                std::int64_t credit) noexcept;
  /// One of them waits no more.
  void on_end(std::uint64_t number) noexcept;

  /// The receive that a message which begins now will meet. \return its number; 0: not known, or
  /// it has not the room
  std::uint64_t find(std::uint64_t tag, std::uint64_t size) const noexcept;

  std::size_t known() const noexcept { return known_.size(); }

 private:
  /// A message that has begun.
  struct begun {
    std::uint64_t tag;
    std::uint64_t at;  // units that were sent before
    bool took;         // a receive that was known then
  };
  static constexpr std::size_t most_begun = 256;

  bool take(std::uint64_t tag, std::size_t from) noexcept;
  begun& message(std::uint64_t n) noexcept { return begun_[n % most_begun]; }

  std::vector<early_receive> known_;  // in order of posting; at most most_early
  std::array<begun, most_begun> begun_;
  std::uint64_t messages_ = 0;  // that have begun
  std::uint64_t units_ = 0;     // sent in all
  std::uint64_t last_ = 0;      // the largest number that was announced
};

}  // namespace weft::proto
