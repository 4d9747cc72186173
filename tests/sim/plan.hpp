// SPDX-License-Identifier: Apache-2.0
// What happens in a run, all of it derived from one seed.
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

/// What a user can say about a run. Nothing said: the seed decides.
struct wishes {
  std::uint64_t seed = 1;
  std::optional<unsigned> ranks;
  std::optional<unsigned> messages;           ///< at most so many in each conversation
  std::optional<std::vector<unsigned>> only;  ///< these acts and no others, by number
  std::string plant;                          ///< a fault of plants.hpp; empty: none
  /// Every pair has a link by each transport, and may lose all but one of them on the way.
  bool many_links = false;
  /// One more rank, which keeps no rules.
  bool hostile = false;
  /// So many frames it sends at most in each of its acts.
  std::optional<unsigned> frames;

  /// The command that repeats it.
  std::string command() const;
};

/// One thing that happens: a conversation, or a disaster. Its numbers depend on the seed and on its
/// place in the plan, not on the other acts: those can be left out.
struct act {
  unsigned number = 0;
  const struct act_kind* kind = nullptr;
  node first = 0;   ///< whoever begins it, or whom it befalls
  node second = 0;  ///< the other one
  nanoseconds when{0};
  dice chance{0};
};

/// One rank's own choices.
struct rank_plan {
  std::size_t unexpected_budget = 0;
  std::size_t eager_limit = 0;
  weft::rendezvous_scheme rendezvous = weft::rendezvous_scheme::automatic;
  weft::rendezvous_eager_data eager_data = weft::rendezvous_eager_data::automatic;
  nanoseconds joins{0};
};

struct scenario {
  wishes wanted;
  std::vector<rank_plan> ranks;
  std::vector<fake::manner> transports;  ///< every rank has all of them
  nanoseconds turn{0};                   ///< what a turn costs
  std::vector<act> acts;                 ///< in order of number; numbers may be missing
  unsigned acts_in_all = 0;              ///< also those that were left out
  std::optional<node> hostile;           ///< the rank that keeps no rules
  dice chance{0};                        ///< for everything else

  /// Which transport the two use, in both directions.
  std::size_t way(node a, node b) const;

  /// Whether the hostile rank's links by every transport lead into the one frame sink that a rank
  /// has for it. Connection managers should not let it; a peer should not need that.
  bool enters_twice(node victim) const;

  /// When the pair loses its link by that transport; nothing: it keeps it.
  std::optional<nanoseconds> cut(node a, node b, std::size_t transport) const;

  /// For the numbers of a rank that no other one guesses.
  dice secrets(node n) const { return chance.part(~std::uint64_t{n}); }

  /// Whether a rank has anything to do; the others are left out.
  bool takes_part(node n) const;
};

scenario make_plan(const wishes& w);

}  // namespace sim
