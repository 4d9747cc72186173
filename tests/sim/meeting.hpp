// SPDX-License-Identifier: Apache-2.0
// The collectives of one group of ranks, and of the groups that are left of it, as the oracle knows
// them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectives/communicator.hpp"
#include "sim/job.hpp"

namespace sim {

/// One collective.
struct step {
  weft::collectives::kind what;
  std::size_t words;     ///< of one rank's part
  std::uint64_t salt;    ///< so that no two steps have the same data
  bool composed;         ///< a reduction whose operands may not change places
  std::uint64_t chance;  ///< for the root
};

/// A step that one member takes in place of another, by mistake. \param d which mistake
step mistaken(step s, dice d);

/// The data of one member for one step.
class part_of_step {
 public:
  part_of_step(const step& s, weft::peer_id rank, weft::peer_id size);
  weft::task<void> perform(const weft::detail::communicator_ptr& of);
  /// After the end. \return empty, or what is wrong
  std::string judge() const;
  /// For the trace.
  std::string describe() const;
  /// Whether this member waits for no other. A tree may have it wait all the same.
  bool may_only_send() const;
  /// Whether no other member waits for this one. A tree may have them wait all the same.
  bool may_go_unmissed() const;

 private:
  using word = std::uint64_t;
  weft::peer_id root() const { return static_cast<weft::peer_id>(step_.chance % size_); }
  word value(weft::peer_id from, std::size_t i) const;
  word reduced(weft::peer_id last, std::size_t i) const;
  std::optional<word> expected(std::size_t i) const;

  const step step_;
  const weft::peer_id rank_, size_;
  std::vector<word> out_, in_;
};

/// Lives until the end of the run. In each of a few rounds the members do all steps in their
/// present group, and then shrink it: those that have lost a member make a new group together with
/// those that have not.
class meeting {
 public:
  /// \param members  ranks, in the order of the group
  /// \param stopping a member that stops one of its collectives
  meeting(job& j, std::uint64_t number, std::vector<node> members, std::optional<node> stopping)
      : job_(j), number(number), members(std::move(members)), stopping(stopping) {}

  job& job_;
  const std::uint64_t number;
  const std::vector<node> members;
  const std::optional<node> stopping;
  std::vector<step> steps;
  std::optional<node> mistaken_one;  ///< a member that takes another step than the others
  std::size_t mistake = 0;           ///< in place of that step
  bool at_once = false;              ///< all steps of a round are under way together
  bool one_host = true;
  unsigned rounds = 1;

  void has_left(node n) { left_.insert(n); }
  /// A collective has failed at a member, with that text.
  void failed(node n, std::uint64_t group, const weft::error& why);

  /// The mistaken step has ended well at a member of a group of that size.
  /// \param by_mistake it is the mistaken one, and it waits for others or they for it
  void did_not_notice(std::uint64_t group, weft::peer_id size, bool by_mistake);

  /// Whether a collective may fail with that error.
  bool excuses(errc status) const;
  /// Whether a member may wait at rest.
  bool may_wait() const;
  /// Empty, or what is wrong. After the end.
  std::string judge() const;

 private:
  bool lives(node n) const { return job_.lives(n); }
  /// How many members have ended; how many pairs were parted.
  std::pair<unsigned, unsigned> losses() const;

  struct outcome {
    node at;
    errc status;
    std::string text;
  };
  std::set<node> left_;
  std::map<std::uint64_t, std::vector<outcome>> failures_;  // by group
  struct unnoticed {
    weft::peer_id size, ended_well;
    bool has_mistaken_one;
  };
  std::map<std::uint64_t, unnoticed> unnoticed_;  // by group
};

}  // namespace sim
