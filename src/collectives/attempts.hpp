// SPDX-License-Identifier: Apache-2.0
// The numbers of groups that are tried, one after the other, with one list of members.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/group_number.hpp"

namespace weft::collectives {

/// A value that all members compute.
class number_sequence {
 public:
  /// \param of_what what makes two sequences with equal members differ
  number_sequence(origin how, std::uint64_t of_what, const std::vector<peer_id>& members) noexcept
      : how_(how), of_what_(of_what) {
    number_of_group hash(how);
    for (const peer_id m : members) hash.add(m);
    members_ = hash.value();
  }
  std::uint64_t number(std::uint64_t attempt) const noexcept {
    return number_of_group(how_).add(of_what_).add(members_).add(attempt).value();
  }
  friend bool operator==(const number_sequence&, const number_sequence&) = default;

 private:
  origin how_;
  std::uint64_t of_what_;
  std::uint64_t members_ = 0;
};

/// How many numbers of the last sequence are used up at one process. A group may have come about at
/// this member and failed at the others: they still agree on the next number.
class attempts {
 public:
  std::uint64_t used(const number_sequence& of) const noexcept { return last_ == of ? used_ : 0; }
  void use(const number_sequence& of, std::uint64_t attempt) noexcept {
    last_ = of;
    used_ = attempt + 1;
  }

 private:
  number_sequence last_{origin::shrink, 0, {}};
  std::uint64_t used_ = 0;
};

/// Of sequences that depend on the job alone, and not on the group that a member comes from.
struct job_attempts {
  attempts replacing;
  attempts growing;
};

}  // namespace weft::collectives
