// SPDX-License-Identifier: Apache-2.0
// What algorithms do with data at one member.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/collective.hpp"
#include "collectives/together.hpp"

namespace weft::collectives {

/// Begins a collective by the algorithm of choice. \param all its table
/// \param operation as in collective_call
inline task<void> perform(std::span<const algorithm> all, detail::communicator_ptr&& of,
                          const collective_size& c, arguments&& with, std::uint16_t operation = 0) {
  const std::uint8_t how = of->choose(c);
  const collective_call made{c.what, how, with.root, c.bytes, operation};
  return all[how].body(std::move(of), made, std::move(with));
}

/// Memory that an algorithm needs for itself. That of a few elements needs no allocation.
class scratch {
 public:
  /// \throws std::bad_alloc
  explicit scratch(std::size_t bytes)
      : bytes_(bytes),
        memory_(bytes > sizeof few_ ? std::make_unique_for_overwrite<std::byte[]>(bytes)
                                    : nullptr) {}
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  mutable_buffer all() noexcept { return {memory_ ? memory_.get() : few_, bytes_}; }
  mutable_buffer part(std::size_t from, std::size_t size) noexcept {
    return all().subspan(from, size);
  }

 private:
  alignas(std::max_align_t) std::byte few_[64];
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
};

/// Where the block of each rank lies when elements are divided into `blocks` blocks, as evenly as
/// may be. In bytes.
class division {
 public:
  division(std::size_t bytes, std::size_t element, std::size_t blocks) noexcept
      : element_(std::max<std::size_t>(1, element)),
        per_block_(bytes / element_ / blocks),
        more_(bytes / element_ % blocks) {}
  std::size_t begin(std::size_t block) const noexcept {
    return (block * per_block_ + std::min(block, more_)) * element_;
  }
  std::size_t size(std::size_t block) const noexcept { return begin(block + 1) - begin(block); }

 private:
  std::size_t element_, per_block_, more_;
};

/// Nothing where both are the same memory.
inline void copy(const_buffer from, mutable_buffer to) noexcept {
  if (!from.empty() && from.data() != to.data()) std::memcpy(to.data(), from.data(), from.size());
}

/// What a collective reads and what it writes do not overlap: whether the result would be right
/// then depends on the algorithm. Except for its own part in its place.
/// \param part     the shorter one of the two
/// \param in_place where it may lie in the other; null: nowhere
/// \throws weft::error (invalid_argument)
void check_apart(kind what, const_buffer part, const_buffer other,
                 const std::byte* in_place = nullptr);

/// Each rank has its own block of `all`, and gets the others in a ring of n - 1 steps. Also the
/// last part of all_reduce by a ring.
task<void> pass_around(collective c, mutable_buffer all, division blocks);

}  // namespace weft::collectives
