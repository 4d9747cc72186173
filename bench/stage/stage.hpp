// SPDX-License-Identifier: Apache-2.0
// The set-up of a measurement: two sides, a context on each, an endpoint between them.
#pragma once

#include <functional>
#include <string>
#include <weft/weft.hpp>

#include "stage/settings.hpp"
#include "stage/sides.hpp"

namespace weft::bench {

/// One of the two sides, as its coroutine sees it.
struct side {
  context& ctx;
  endpoint peer;
  int rank;               ///< 0 or 1, as pair_member::rank
  bool one_clock = true;  ///< whether times of both sides are known to be of one clock
};

/// One of several contexts of a side, and its peer on the other side: for measurements in turns on
/// different contexts. It belongs to no job.
struct place {
  context ctx;
  endpoint peer = {};

  explicit place(options chosen);

  /// Both sides, in the same order of places.
  void meet(pair_member& member);
};

/// This side, as a coroutine on `at` sees it.
inline side side_at(place& at, const pair_member& member) {
  return {at.ctx, at.peer, member.rank(), member.one_clock()};
}

/// Memory that two forked sides share, by which one passes the address of its listener.
inline constexpr std::size_t longest_address = 256;

/// Tags of the benchmarks' own messages.
inline constexpr tag data_tag{1};
inline constexpr tag ack_tag{2};
inline constexpr tag sync_tag{3};

/// Makes the two sides, connects a context of each with the other's and runs `act` on both, inside
/// `run()`. Side 0 may print. Throws std::runtime_error when one of them fails. For a process with
/// one thread and no context.
/// \param apart on two hosts (support/hosts.hpp), if forked
void on_stage(const std::string& name, const settings& chosen, bool apart,
              const std::function<task<void>(side&)>& act);

/// The same for one of two sides that exist.
void on_stage(pair_member& member, const settings& chosen,
              const std::function<task<void>(side&)>& act);

/// Ends when both sides have called it, by a message each way.
task<void> barrier(const side& me);

}  // namespace weft::bench
