// SPDX-License-Identifier: Apache-2.0
#include <weft/group.hpp>

#include <fmt/format.h>

#include <utility>

#include "api/core/core.hpp"
#include "api/core/no_rank.hpp"
#include "collectives/communicator.hpp"
#include "proto/groups/group_table.hpp"

namespace weft {

using collectives::communicator;
using collectives::group_shape;

void detail::check_root(peer_id root, peer_id size) {
  if (root >= size)
    throw error(errc::invalid_argument,
                fmt::format("there is no root {} in a group of {}", root, size));
}

void detail::check_equal(std::size_t has, std::size_t needs, const char* what) {
  if (has != needs)
    throw error(errc::invalid_argument,
                fmt::format("{} has to be {} long, and is {}", what, needs, has));
}

group::group(context& owner, detail::communicator_ptr state)
    : owner_(&owner), state_(state ? std::move(state) : detail::core_of(owner).world()) {}

peer_id group::rank() const noexcept { return state_->rank(); }
peer_id group::size() const noexcept { return state_->size(); }

endpoint group::operator[](peer_id rank) const {
  if (rank >= size()) throw detail::no_such_rank(detail::core_of(*owner_), rank, size());
  return owner_->peer(state_->member(rank));
}

std::optional<peer_id> group::rank_of(const endpoint& who) const noexcept {
  if (!who) return std::nullopt;
  return state_->rank_of(who.id());
}

tag group::own_tag(tag t) const noexcept { return {proto::own_tag(state_->number(), t.value)}; }

std::vector<peer_id> group::lost() const { return state_->lost_members(); }

void detail::check_counts(std::span<const std::size_t> counts, peer_id ranks, std::size_t elements,
                          const char* what) {
  check_equal(counts.size(), ranks, "the list of counts");
  std::size_t sum = 0;
  for (const std::size_t n : counts) {
    if (n > elements - sum)
      throw error(
          errc::invalid_argument,
          fmt::format("the counts of {} exceed the {} elements of the buffer", what, elements));
    sum += n;
  }
}

namespace {

detail::byte_counts in_bytes(std::span<const std::size_t> counts, std::size_t element) {
  detail::byte_counts bytes(counts.begin(), counts.end());
  for (std::size_t& n : bytes) n *= element;
  return bytes;
}

}  // namespace

task<void> group::all_to_all_counted(const_buffer out, std::span<const std::size_t> out_counts,
                                     mutable_buffer in, std::span<const std::size_t> in_counts,
                                     std::size_t element) const {
  detail::check_counts(out_counts, size(), out.size() / element, "the parts that leave");
  detail::check_counts(in_counts, size(), in.size() / element, "the parts that come");
  return detail::all_to_all(state_, out, in_bytes(out_counts, element), in,
                            in_bytes(in_counts, element));
}

task<void> group::gather_counted(const_buffer mine, mutable_buffer all,
                                 std::span<const std::size_t> counts, std::size_t element,
                                 peer_id root) const {
  detail::check_root(root, size());
  if (rank() != root) return detail::gather(state_, mine, all, {}, root);
  detail::check_counts(counts, size(), all.size() / element, "the parts at the root");
  detail::check_equal(mine.size(), counts[root] * element, "the root's own part");
  return detail::gather(state_, mine, all, in_bytes(counts, element), root);
}

task<void> group::scatter_counted(const_buffer all, std::span<const std::size_t> counts,
                                  mutable_buffer mine, std::size_t element, peer_id root) const {
  detail::check_root(root, size());
  if (rank() != root) return detail::scatter(state_, all, {}, mine, root);
  detail::check_counts(counts, size(), all.size() / element, "the parts at the root");
  detail::check_equal(mine.size(), counts[root] * element, "the root's own part");
  return detail::scatter(state_, all, in_bytes(counts, element), mine, root);
}

}  // namespace weft
