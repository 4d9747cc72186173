// SPDX-License-Identifier: Apache-2.0
// Looks, while members of a group wait for each other, whether they wait for too long.
#pragma once

#include <chrono>
#include <cstdint>

#include <weft/coro/detail/timer.hpp>

#include "proto/services/services.hpp"

namespace weft::proto {

class group_table;

/// Asks a group after a while, and again after twice that time, 6.4 s at most, whether receives of
/// it wait (revocable::on_watch): it ends when there are none, after a day, or with the context.
/// One timer for all collectives of a group, so that a collective which ends soon pays for none.
/// Owns itself.
class group_watch final : public detail::timer {
 public:
  /// Any thread, without the progress lock. \param all has the group \throws std::bad_alloc
  static void begin(const protocol_services& s, const group_table& all, std::uint64_t group);

 private:
  static constexpr std::chrono::milliseconds first_look{100};
  static constexpr unsigned most_doublings = 6;
  static constexpr unsigned most_looks = 13'500;

  group_watch(const protocol_services& s, const group_table& all, std::uint64_t group,
              std::uint64_t posted) noexcept;
  void look() noexcept;
  void wait() noexcept;

  const protocol_services& services_;
  const group_table& all_;
  const std::uint64_t group_;
  std::uint64_t posted_;  // receives that had been posted when it looked last
  unsigned looks_ = 0;
};

}  // namespace weft::proto
