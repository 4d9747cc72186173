// SPDX-License-Identifier: Apache-2.0
// The algorithms of collectives, each at one member. A file for each kind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/together.hpp"

namespace weft::collectives {

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
void copy(const_buffer from, mutable_buffer to) noexcept;

/// What a collective reads and what it writes do not overlap: whether the result would be right
/// then depends on the algorithm. Except for its own part in its place.
/// \param part     the shorter one of the two
/// \param in_place where it may lie in the other; null: nowhere
/// \throws weft::error (invalid_argument)
void check_apart(kind what, const_buffer part, const_buffer other,
                 const std::byte* in_place = nullptr);

using detail::reduction;

task<void> broadcast_binomial(collective c, mutable_buffer data, peer_id root);
task<void> broadcast_chain(collective c, mutable_buffer data, peer_id root);
task<void> broadcast_scatter_all_gather(collective c, mutable_buffer data, peer_id root);

task<void> reduce_binomial(collective c, const_buffer mine, mutable_buffer result,
                           const reduction& how, peer_id root);
task<void> reduce_ring(collective c, const_buffer mine, mutable_buffer result, const reduction& how,
                       peer_id root);

/// The way of short data: as `run` would do it, but in one coroutine, because the frame of a second
/// one costs a good part of a short message.
task<void> all_reduce_doubling(detail::communicator_ptr group, collective_call made,
                               mutable_buffer data, reduction how);
task<void> all_reduce_rabenseifner(collective c, mutable_buffer data, const reduction& how);
task<void> all_reduce_ring(collective c, mutable_buffer data, const reduction& how);

task<void> gather_binomial(collective c, const_buffer mine, mutable_buffer all, peer_id root);
task<void> scatter_binomial(collective c, const_buffer all, mutable_buffer mine, peer_id root);
task<void> gather_linear(collective c, const_buffer mine, mutable_buffer all,
                         detail::byte_counts parts, peer_id root);
task<void> scatter_linear(collective c, const_buffer all, detail::byte_counts parts,
                          mutable_buffer mine, peer_id root);

task<void> all_gather_bruck(collective c, const_buffer mine, mutable_buffer all);
/// The block of this rank is in its place in `all` already.
task<void> all_gather_ring(collective c, mutable_buffer all, division blocks);

task<void> all_to_all_bruck(collective c, const_buffer out, mutable_buffer in);
task<void> all_to_all_pairwise(collective c, const_buffer out, detail::byte_counts out_parts,
                               mutable_buffer in, detail::byte_counts in_parts);

task<void> scan_doubling(collective c, mutable_buffer data, const reduction& how);

}  // namespace weft::collectives
