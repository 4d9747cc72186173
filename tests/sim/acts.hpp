// SPDX-License-Identifier: Apache-2.0
// The acts of a run: conversations between ranks, and disasters. A new feature of weft gets a file
// and a line in the list.
#pragma once

#include <string_view>
#include <vector>

#include "sim/job.hpp"

namespace sim {

/// A kind of act. `stage` is called before the run begins; it schedules the act by job::when_there
/// and rank::play. A played task must join what it starts and throw nothing.
struct act_kind {
  std::string_view name;
  unsigned weight;  ///< how often it comes, in proportion
  void (*stage)(job&, const act&);
  bool parts = false;  ///< whether a rank, or a pair of ranks, is apart for good afterwards
};

const std::vector<act_kind>& act_kinds();
/// The act of the hostile rank; a run with a hostile rank has one or more of it.
const act_kind& hostility();
/// The act of a run in which processes come back.
const act_kind& restoration();

// acts_messages.cpp
void stage_talk(job&, const act&);
void stage_exchange(job&, const act&);
void stage_gather(job&, const act&);
void stage_race(job&, const act&);

// acts_access.cpp
void stage_access(job&, const act&);

// acts_calls.cpp
void stage_calls(job&, const act&);
void stage_calls_both_ways(job&, const act&);

// acts_collectives.cpp
void stage_collectives(job&, const act&);

// acts_disasters.cpp
void stage_stall(job&, const act&);
void stage_death(job&, const act&);
void stage_leave(job&, const act&);
void stage_close(job&, const act&);
void stage_cut(job&, const act&);

// acts_hostile.cpp
void stage_hostility(job&, const act&);

// acts_return.cpp
void stage_restoration(job&, const act&);

/// Tags of one act's messages: no receive of another act matches them. The low 16 bits are the
/// act's.
constexpr std::uint64_t tag_of(const act& a, std::uint64_t n) noexcept {
  return std::uint64_t{a.number + 1} << 16 | n;
}
constexpr weft::tag_mask any_of(const act& a) noexcept {
  return weft::tag_mask(tag_of(a, 0), ~std::uint64_t{0xffff});
}

/// The number of one act's handler, and of its group.
constexpr std::uint32_t handler_of(const act& a) noexcept { return a.number + 1; }
constexpr std::uint64_t group_of(const act& a) noexcept { return std::uint64_t{a.number} + 1000; }

}  // namespace sim
