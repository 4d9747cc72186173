// SPDX-License-Identifier: Apache-2.0
// What a context waits for, as text for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/coro/detail/timer.hpp>

namespace weft::proto {

class messenger;

/// What was pending at a former time: operations have no time of their own, because a clock would
/// be read for each. Receives are numbered in the order of posting.
struct pending_history {
  std::uint64_t posted = 0;   ///< so many receives had been posted
  detail::time_point when{};  ///< at this time
};

/// A line for each pending operation of messages, accesses and calls, then for each message that no
/// receive has met, then for each connection: at most `most` of each, and a line with the number of
/// those that are left out. Progress lock held.
/// \param before of the former call; gets the present state. Of a receive that was posted before,
///   its line says how long ago that was at least
/// \throws std::bad_alloc
std::vector<std::string> describe_pending(messenger& m, std::size_t most, pending_history& before);

}  // namespace weft::proto
