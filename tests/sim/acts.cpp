// SPDX-License-Identifier: Apache-2.0
#include "sim/acts.hpp"

namespace sim {

const std::vector<act_kind>& act_kinds() {
  static const std::vector<act_kind> all{
      {"talk", 50, &stage_talk},
      {"exchange", 10, &stage_exchange},
      {"gather", 10, &stage_gather},
      {"race", 5, &stage_race},
      {"access", 15, &stage_access},
      {"calls", 10, &stage_calls},
      {"both", 10, &stage_calls_both_ways},
      {"collectives", 12, &stage_collectives},
      {"stall", 10, &stage_stall},
      {"death", 4, &stage_death, true},
      {"leave", 4, &stage_leave, true},
      {"close", 4, &stage_close, true},
      {"cut", 4, &stage_cut, true},
  };
  return all;
}

const act_kind& hostility() {
  static const act_kind kind{"hostility", 0, &stage_hostility};
  return kind;
}

const act_kind& restoration() {
  static const act_kind kind{"return", 0, &stage_restoration};
  return kind;
}

}  // namespace sim
