// SPDX-License-Identifier: Apache-2.0
#include <weft/shared_flags.hpp>

#include <fmt/format.h>

#include <exception>
#include <utility>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/group_number.hpp"

namespace weft {

using collectives::communicator;
using collectives::group_segment;
using collectives::number_of_group;
using collectives::origin;
using runtime::flag_segment;

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
constexpr std::uint64_t most_flags = ~std::uint32_t{0};

/// What a member asks for.
struct wish {
  std::uint64_t flags, bytes;
  bool is_too_much() const noexcept { return flags > most_flags || bytes > most_bytes; }
  friend bool operator==(const wish&, const wish&) = default;
};

void require_equal(const std::vector<wish>& all, peer_id self) {
  for (peer_id r = 0; r != all.size(); ++r)
    if (all[r] != all[self])
      throw error(
          errc::invalid_argument,
          fmt::format("rank {} called shared_flags::make of {} flags and {} bytes, this rank of {} "
                      "and {}: all members ask for the same",
                      r, all[r].flags, all[r].bytes, all[self].flags, all[self].bytes));
  if (all[self].is_too_much())
    throw error(errc::invalid_argument,
                fmt::format("shared_flags of {} flags and {} bytes; {} and {} are the most",
                            all[self].flags, all[self].bytes, most_flags, most_bytes));
}

error not_shared(const std::string& obstacle) {
  return error(
      errc::unsupported,
      fmt::format("not all members of the group can share memory ({}): make a group of processes "
                  "of one host (group::split), which reach each other over shm (WEFT_TRANSPORTS)",
                  obstacle.empty() ? "another one, or a link to one, cannot" : obstacle));
}

flag_segment& memory_of(const communicator& c) noexcept { return c.segment()->memory(); }

runtime::flag& flag_of(const communicator& c, std::size_t flag) {
  flag_segment& all = memory_of(c);
  if (flag >= all.flags())
    throw error(errc::invalid_argument,
                fmt::format("there is no flag {} among {}", flag, all.flags()));
  return all.at(static_cast<std::uint32_t>(flag));
}

/// A group with the members of another one, for the segment: its descriptor, its revocation.
detail::communicator_ptr derived(const communicator& of, const wish& what) {
  std::vector<peer_id> members;
  for (peer_id r = 0; r != of.size(); ++r) members.push_back(of.member(r));
  const std::uint64_t number =
      number_of_group(origin::flags).add(of.number()).add(of.begun()).value();
  runtime::flag_layout layout{of.size()};
  if (!what.is_too_much()) layout = {of.size(), static_cast<std::uint32_t>(what.flags), what.bytes};
  return std::make_shared<communicator>(of.messenger(), number, of.rank(), of.shape(),
                                        std::move(members), layout);
}

/// All members have made the group when the exchange has ended: no descriptor comes too early. It
/// may fail here and end well at others, which then wait for this member.
task<void> agree(detail::communicator_ptr of, wish mine, communicator& made) {
  std::vector<wish> all(of->size());
  const peer_id self = of->rank();
  communicator& whole = *of;  // lives as long as the call of `make`
  try {
    co_await detail::all_gather(std::move(of), detail::bytes_of(std::span(&mine, 1)),
                                detail::writable_bytes_of(all), detail::name_of_shared_flags);
  } catch (const error& e) {
    if (!made.loses_as(whole)) static_cast<void>(made.fail(e));
    throw;
  }
  require_equal(all, self);
}

}  // namespace

task<shared_flags> shared_flags::make(group of, std::size_t flags, std::size_t bytes) {
  detail::communicator_ptr whole = of.state_;
  whole->check();
  const wish mine{flags, bytes};
  shared_flags made(derived(*whole, mine));
  communicator& own = *made.state_;
  co_await agree(std::move(whole), mine, own);
  std::optional<error> failure;
  try {
    own.segment()->make_at_first_rank();
    const bool usable = co_await own.segment()->settles();
    if (!usable) failure = not_shared(own.segment()->obstacle());
  } catch (const error& e) {
    failure = own.fail(e);
  }
  if (failure) throw error(*failure);
  co_return made;
}

std::size_t shared_flags::size() const noexcept { return memory_of(*state_).flags(); }

std::uint64_t shared_flags::value(std::size_t flag) const {
  return flag_of(*state_, flag).value.load(std::memory_order_acquire);
}

void shared_flags::raise(std::size_t flag, std::uint64_t value) const {
  memory_of(*state_).raise_to(flag_of(*state_, flag), value);
}

std::uint64_t shared_flags::add(std::size_t flag, std::uint64_t by) const {
  return memory_of(*state_).add(flag_of(*state_, flag), by);
}

/// The watch of the group looks again where a ring was lost with the member that was to ring.
flag_request shared_flags::all_reach(std::size_t first, std::size_t count,
                                     std::uint64_t value) const {
  if (first > size() || count > size() - first)
    throw error(errc::invalid_argument,
                fmt::format("there are no {} flags from {} on among {}", count, first, size()));
  const flag_range range{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)};
  const flag_request r = state_->segment()->until(range, value);
  if (!r.try_now()) state_->waits();
  return r;
}

std::span<std::byte, 56> shared_flags::beside(std::size_t flag) const {
  return std::span<std::byte, 56>(flag_of(*state_, flag).with);
}

std::span<std::byte> shared_flags::bytes() const noexcept {
  return memory_of(*state_).user_memory();
}

}  // namespace weft
