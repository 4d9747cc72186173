// SPDX-License-Identifier: Apache-2.0
// Memory that the peer may write to.
#pragma once

#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include <weft/transport/link.hpp>

namespace weft::transports::tcp {

/// The memory that this side has told one peer of, for its writes (link::expect). A region is the
/// number of a place in this table, from 1 on, and is used again when it was withdrawn. A member of
/// the pair; progress lock held only.
class expected_memory {
 public:
  /// \return its name for the peer; nothing: no memory, or every number is taken
  std::optional<remote_address> add(mutable_buffer into) noexcept {
    try {
      if (free_.empty()) {
        if (into.empty() || places_.size() == most) return {};
        places_.emplace_back();
        free_.reserve(places_.size());  // so that withdraw needs no memory
        free_.push_back(static_cast<std::uint16_t>(places_.size()));
      }
    } catch (const std::bad_alloc&) {
      return {};
    }
    const std::uint16_t region = free_.back();
    free_.pop_back();
    places_[region - 1u] = into;
    return remote_address{region, 0};
  }

  void withdraw(remote_address what) noexcept {
    if (!knows(what.region)) return;
    places_[what.region - 1u] = {};
    free_.push_back(what.region);
  }

  void clear() noexcept {
    places_.clear();
    free_.clear();
  }

  /// Where the peer's bytes go. \return at most `size` bytes; empty: that memory was withdrawn
  mutable_buffer at(remote_address where, std::size_t size) const noexcept {
    return knows(where.region) ? places_[where.region - 1u].subspan(where.offset, size)
                               : mutable_buffer{};
  }

  /// Whether so many bytes lie within the memory of that name, if it was not withdrawn.
  bool allows(remote_address where, std::size_t size) const noexcept {
    if (!knows(where.region)) return true;
    const std::size_t has = places_[where.region - 1u].size();
    return size <= has && where.offset <= has - size;
  }

 private:
  static constexpr std::size_t most = 0xffff;

  bool knows(std::uint16_t region) const noexcept {
    return region != 0 && region <= places_.size() && !places_[region - 1u].empty();
  }

  std::vector<mutable_buffer> places_;  // empty: free
  std::vector<std::uint16_t> free_;
};

}  // namespace weft::transports::tcp
