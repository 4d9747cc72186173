// SPDX-License-Identifier: Apache-2.0
// What one part of the protocols needs to be made without a messenger.
#pragma once

#include <memory>
#include <utility>

#include "proto/connection/peer_connection.hpp"
#include "proto/frames/inbound_message.hpp"
#include "proto/match/match.hpp"
#include "proto/match/unexpected_memory.hpp"
#include "proto/select/scheme_costs.hpp"
#include "proto/services/services.hpp"

namespace weft::tests {

/// Notes what a part leaves to a later pass. There is no pass: nothing here may wait for one.
class noting_upkeep final : public proto::upkeep {
 public:
  void note_marked() noexcept override { ++marked; }
  void note_starved(proto::frame_writer&, bool waits) noexcept override { starved = waits; }
  void note_budget() noexcept override { ++budgets; }
  detail::time_point note_stop() noexcept override { return detail::time_point{}; }
  void has_unsent(bool one_more) noexcept override { unsent += one_more ? 1 : -1; }

  int marked = 0;
  int budgets = 0;
  int unsent = 0;
  bool starved = false;

 private:
  void add_yielded(proto::waiter&) noexcept override {}
};

/// A peer that is none: it counts the links that are wanted.
class no_peer_host final : public proto::connection_host {
 public:
  void connect() noexcept override { ++wanted; }
  std::shared_ptr<void> keep_alive() noexcept override { return {}; }

  int wanted = 0;
};

/// The services of a part that is tested alone: the upkeep takes notes, all else is real.
class part_services {
 public:
  /// \param s its unexpected_budget is what peers can be granted
  explicit part_services(proto::messenger_settings s = {}) : settings(std::move(s)) {}

  const proto::messenger_settings settings;
  runtime::engine engine{progress_mode::polling, {}, "epoll"};
  metrics counts;
  noting_upkeep upkeep;
  proto::match_table matcher;
  proto::pool<proto::inbound_message> messages;
  proto::unexpected_memory memory{settings.unexpected_budget, settings.fixed_credit, counts,
                                  upkeep};
  proto::scheme_cost_table costs;
  const proto::protocol_services all{engine,   settings, counts, matcher,
                                     messages, memory,   costs,  upkeep};
};

}  // namespace weft::tests
