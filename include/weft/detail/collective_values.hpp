// SPDX-License-Identifier: Apache-2.0
// The collectives of a group on single values, and those that make the memory for their results:
// weft/group.hpp documents them. Applications do not name these.
#pragma once

#include <concepts>
#include <cstddef>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/detail/collective_ops.hpp>
#include <weft/reduction.hpp>

namespace weft {

/// Parts of different lengths, one rank's behind the other's: the result of
/// `group::all_to_all_parts`.
template <class T>
struct received_parts {
  std::vector<T> elements;
  std::vector<std::size_t> counts;  ///< the number of elements of each rank

  /// The part of a rank, which is below the number of counts.
  std::span<const T> of(peer_id rank) const {
    const auto mine = counts.begin() + static_cast<std::ptrdiff_t>(rank);
    return std::span(elements).subspan(std::accumulate(counts.begin(), mine, std::size_t{0}),
                                       *mine);
  }
};

namespace detail {

template <class T>
concept single_value = std::is_trivially_copyable_v<T> && !std::ranges::range<T> &&
                       alignof(T) <= alignof(std::max_align_t);

template <class T>
constexpr void require_vector() noexcept {
  static_assert(!std::same_as<T, bool>,
                "a vector of bool has no elements in memory: take std::uint8_t");
}

template <class T>
const_buffer bytes_of_one(const T& value) noexcept {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}
template <class T>
mutable_buffer writable_bytes_of_one(T& value) noexcept {
  return std::as_writable_bytes(std::span<T, 1>(&value, 1));
}

template <class T, class Op>
task<T> all_reduce_value(communicator_ptr state, T value, Op op) {
  co_await all_reduce(std::move(state), writable_bytes_of_one(value),
                      make_reduction<T>(std::move(op)));
  co_return value;
}

template <class T, class Op>
task<T> scan_value(communicator_ptr state, T value, Op op) {
  co_await scan(std::move(state), writable_bytes_of_one(value), make_reduction<T>(std::move(op)));
  co_return value;
}

template <class T, class Op>
task<std::optional<T>> reduce_value(communicator_ptr state, T value, Op op, peer_id root) {
  std::optional<T> result;
  mutable_buffer to;
  if (rank_in(*state) == root) to = writable_bytes_of_one(result.emplace(value));
  co_await reduce(std::move(state), bytes_of_one(value), to, make_reduction<T>(std::move(op)),
                  root);
  co_return result;
}

template <class T>
task<std::vector<T>> gather_value(communicator_ptr state, T value, peer_id root) {
  require_vector<T>();
  std::vector<T> all;
  if (rank_in(*state) == root) all.assign(size_of(*state), value);
  co_await gather(std::move(state), bytes_of_one(value), std::as_writable_bytes(std::span(all)),
                  root);
  co_return all;
}

template <class T>
task<std::vector<T>> all_gather_value(communicator_ptr state, T value) {
  require_vector<T>();
  std::vector<T> all(size_of(*state), value);
  co_await all_gather(std::move(state), bytes_of_one(value),
                      std::as_writable_bytes(std::span(all)));
  co_return all;
}

template <class T>
task<T> scatter_value(communicator_ptr state, const_buffer all, peer_id root) {
  T mine{};
  co_await scatter(std::move(state), all, writable_bytes_of_one(mine), root);
  co_return mine;
}

/// \param counts the elements for each rank
template <class T>
task<received_parts<T>> all_to_all_parts(communicator_ptr state, const_buffer out,
                                         byte_counts counts) {
  require_vector<T>();
  received_parts<T> in;
  in.counts.resize(counts.size());
  co_await all_to_all(state, std::as_bytes(std::span(counts)),
                      std::as_writable_bytes(std::span(in.counts)));
  in.elements.resize(std::accumulate(in.counts.begin(), in.counts.end(), std::size_t{0}));
  byte_counts in_bytes = in.counts;
  for (std::size_t& n : counts) n *= sizeof(T);
  for (std::size_t& n : in_bytes) n *= sizeof(T);
  co_await all_to_all(std::move(state), out, std::move(counts),
                      std::as_writable_bytes(std::span(in.elements)), std::move(in_bytes));
  co_return in;
}

}  // namespace detail
}  // namespace weft
