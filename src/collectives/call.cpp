// SPDX-License-Identifier: Apache-2.0
#include "collectives/call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <weft/detail/collective_ops.hpp>

#include "collectives/algorithm.hpp"

namespace weft::collectives {

namespace {

constexpr unsigned rank_bits = 23;
constexpr std::uint64_t rank_mask = (std::uint64_t{1} << rank_bits) - 1;

std::string describe_operation(std::uint16_t name) {
  if (name == 0) return {};
  if (name == detail::name_of_split) return ", of a split";
  if (name == detail::name_of_shared_flags) return ", of shared_flags::make";
  return fmt::format(", by {}", detail::describe_reduction(name));
}

}  // namespace

/// Odd factors, so that a difference in one thing only, other than the sizes, is one of the result.
std::uint64_t fingerprint(const collective_call& c) noexcept {
  constexpr unsigned hash_bits = 9;
  std::uint64_t h = c.bytes * 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 32) * 0xbf58476d1ce4e5b9u;
  const std::uint64_t of_rest = (h >> (64 - hash_bits)) + c.root + std::uint64_t{c.how} * 73 +
                                std::uint64_t{c.operation & 0xffu} * 37 +
                                std::uint64_t{c.operation} / 256 * 101;
  const auto what = static_cast<std::uint64_t>(c.what);
  return what == 0 ? 0 : what << hash_bits | (of_rest & ((1u << hash_bits) - 1));
}

std::string describe(const collective_call& c) {
  if (c.what == kind::barrier) return "barrier";
  std::string text(name_of(c.what));
  text +=
      c.bytes == of_parts ? " of parts of different sizes" : fmt::format(" of {} bytes", c.bytes);
  if (const std::string_view root_is = table_of(c.what).root_is; !root_is.empty())
    text += fmt::format(" {} root {}", root_is, c.root);
  return text + describe_operation(c.operation);
}

std::string_view algorithm_of(const collective_call& c) noexcept {
  const auto all = table_of(c.what).algorithms;
  return all[std::min<std::size_t>(c.how, all.size() - 1)].name;
}

namespace {

/// Their numbers are not modulo 1024: messages of a member that is far ahead may seem to be of an
/// earlier call.
bool has_long_number(proto::statement_use use) noexcept {
  return use == proto::statement_use::asks || use == proto::statement_use::contradicts;
}

}  // namespace

/// first: kind (4 bits), algorithm (4), number (10), root (23), rank, or the rest of the number
/// (23). second: operation (16), bytes (48).
proto::group_statement statement::packed(proto::statement_use use) const noexcept {
  const std::uint64_t last = has_long_number(use) ? sequence >> proto::sequence_bits : rank;
  return {use,
          static_cast<std::uint64_t>(made.what) << 60 | static_cast<std::uint64_t>(made.how) << 56 |
              (sequence & proto::sequence_mask) << 46 | (made.root & rank_mask) << rank_bits |
              (last & rank_mask),
          std::uint64_t{made.operation} << 48 | std::min(made.bytes, of_parts)};
}

statement statement::unpack(const proto::group_statement& words) noexcept {
  const auto what = static_cast<kind>(std::min<std::uint64_t>(words.first >> 60, kinds - 1));
  const auto how = static_cast<std::uint8_t>(words.first >> 56 & 15);
  const std::uint64_t last = words.first & rank_mask;
  const bool is_long = has_long_number(words.use);
  return {is_long ? no_peer : static_cast<peer_id>(last),
          (words.first >> 46 & proto::sequence_mask) | (is_long ? last << proto::sequence_bits : 0),
          {what, how, static_cast<peer_id>(words.first >> rank_bits & rank_mask),
           words.second & of_parts, static_cast<std::uint16_t>(words.second >> 48)}};
}

}  // namespace weft::collectives
