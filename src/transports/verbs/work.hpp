// SPDX-License-Identifier: Apache-2.0
// The identifier of work that the device returns with each completion.
#pragma once

#include <cstdint>

namespace weft::transports::verbs {

/// The slot of a receive, or a place in the order of a pair's posted work.
class work_id {
 public:
  static constexpr work_id receive(std::uint32_t slot) noexcept { return work_id(slot); }
  /// \param pair number of a pair, never 0: queue pairs' numbers are used again, these are not
  static constexpr work_id send(std::uint32_t pair, std::uint32_t place) noexcept {
    return work_id(std::uint64_t{pair} << 32 | place);
  }
  static constexpr work_id of(std::uint64_t word) noexcept { return work_id(word); }

  constexpr std::uint64_t word() const noexcept { return word_; }
  constexpr bool is_receive() const noexcept { return pair() == 0; }
  constexpr std::uint32_t pair() const noexcept { return static_cast<std::uint32_t>(word_ >> 32); }
  /// The slot, or the place.
  constexpr std::uint32_t number() const noexcept { return static_cast<std::uint32_t>(word_); }

 private:
  explicit constexpr work_id(std::uint64_t word) noexcept : word_(word) {}
  std::uint64_t word_;
};

}  // namespace weft::transports::verbs
