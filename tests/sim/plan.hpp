// SPDX-License-Identifier: Apache-2.0
// The plan of a run, all of it derived from one seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/rendezvous.hpp>

#include "support/dice.hpp"
#include "transports/fake/wire.hpp"

namespace sim {

namespace fake = weft::transports::fake;
using fake::node;
using std::chrono::nanoseconds;
using weft::tests::dice;

/// The user's choices for a run. Without a choice the seed decides.
struct wishes {
  std::uint64_t seed = 1;
  std::optional<unsigned> ranks;
  std::optional<unsigned> messages;           ///< at most so many in each conversation
  std::optional<std::vector<unsigned>> only;  ///< these acts and no others, by number
  std::string plant;                          ///< a fault of plants.hpp; empty: none
  /// Every pair has a link by each transport, and may lose all but one of the links during the run.
  bool many_links = false;
  /// One more rank, which breaks the rules.
  bool hostile = false;
  /// Ranks are killed, and processes come back in their places.
  bool returns = false;
  /// The most frames that this rank sends in each of its acts.
  std::optional<unsigned> frames;

  /// The command that repeats the run.
  std::string command() const;
};

/// One event of the plan: a conversation, or a disaster. Its numbers depend on the seed and on its
/// place in the plan, not on the other acts: so acts can be left out.
struct act {
  unsigned number = 0;
  const struct act_kind* kind = nullptr;
  node first = 0;   ///< the rank that begins it, or that it happens to
  node second = 0;  ///< the other rank
  nanoseconds when{0};
  dice chance{0};
};

/// One rank's settings.
struct rank_plan {
  std::size_t unexpected_budget = 0;
  std::size_t eager_limit = 0;
  weft::rendezvous_scheme rendezvous = weft::rendezvous_scheme::automatic;
  weft::rendezvous_eager_data eager_data = weft::rendezvous_eager_data::automatic;
  nanoseconds joins{0};
  unsigned calls_at_once = 256;
};

struct scenario {
  wishes wanted;
  std::vector<rank_plan> ranks;
  std::vector<fake::manner> transports;  ///< every rank has all of them
  nanoseconds turn{0};                   ///< the time of a turn
  std::vector<act> acts;                 ///< in order of number; numbers may be missing
  unsigned acts_in_all = 0;              ///< also those that were left out
  std::optional<node> hostile;           ///< the rank that breaks the rules
  unsigned spares = 0;                   ///< the last ranks: join only in the place of lost ones
  dice chance{0};                        ///< for everything else

  /// Which transport the two use, in both directions.
  std::size_t way(node a, node b) const;

  /// Whether the hostile rank's links by all transports lead into the one frame sink that a rank
  /// has for it. Connection managers should prevent that, but a peer should not rely on it.
  bool enters_twice(node victim) const;

  /// When the pair loses its link by that transport; nothing: never.
  std::optional<nanoseconds> cut(node a, node b, std::size_t transport) const;

  /// For the numbers of a rank that other ranks cannot guess.
  dice secrets(node n) const { return chance.part(~std::uint64_t{n}); }

  /// How many ranks the job has at the start.
  node at_start() const noexcept { return static_cast<node>(ranks.size() - spares); }

  /// Whether a rank has an act; the others are left out.
  bool takes_part(node n) const;
};

scenario make_plan(const wishes& w);

}  // namespace sim
