// SPDX-License-Identifier: Apache-2.0
// What the parts of the protocols share.
#pragma once

#include <memory>

#include <weft/metrics.hpp>

#include "proto/services/messenger_settings.hpp"
#include "proto/services/upkeep.hpp"
#include "proto/support/pool.hpp"
#include "runtime/progress/engine.hpp"

namespace weft::proto {

class lent_home;
class match_table;
class scheme_cost_table;
class unexpected_memory;
struct inbound_message;

/// What all parts of the protocols of a context use: each gets it at its construction. Made once by
/// the messenger, which owns what it refers to, or by a test with fakes. Parts change none of its
/// members. Progress lock held only, except for `engine`, `settings` and `posts_shortly`.
struct protocol_services {
  runtime::engine& engine;
  const messenger_settings& settings;
  metrics& counts;
  match_table& matcher;
  pool<inbound_message>& messages;
  unexpected_memory& memory;
  scheme_cost_table& costs;
  proto::upkeep& upkeep;

  // Only the messenger changes these.
  bool sends_shortly = true;             ///< messages may leave by the short path
  bool posts_shortly = true;             ///< receives may be posted by the short path
  std::shared_ptr<lent_home> lent = {};  ///< for views of loans; null: loans are copied
  bool ending = false;  ///< what has been accepted or is owed goes on, and nothing new begins
};

}  // namespace weft::proto
