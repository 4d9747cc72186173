// SPDX-License-Identifier: Apache-2.0
// The ranks of a run and what connects them: all but the acts.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "proto/rails/multi_rail_link.hpp"
#include "sim/accounts.hpp"
#include "sim/hostile_rank.hpp"
#include "sim/ledger.hpp"
#include "sim/log.hpp"
#include "sim/plan.hpp"
#include "sim/rank.hpp"
#include "sim/views.hpp"
#include "sim/work.hpp"

namespace sim {

/// A job in one process. Takes the place of weft-run, the control plane and the kernel of real
/// ranks: makes links on request, and tells of deaths and good-byes, each after a delay.
class job {
 public:
  job(const scenario& p, log& l, ledger& book);
  ~job();

  const scenario& plan() const noexcept { return plan_; }
  fake::world& world() noexcept { return world_; }
  ledger& book() noexcept { return ledger_; }
  log& history() noexcept { return log_; }

  /// Whether the rank has joined, and has neither died nor left.
  bool lives(node n) const noexcept;
  rank& at(node n) noexcept { return *ranks_[n]; }

  /// Calls `what` at that moment, or when the rank joins, if that is later; not if the rank is gone
  /// then.
  void when_there(node n, nanoseconds when, std::function<void(rank&)> what);

  /// The members of the job, as that rank knows them.
  views_of_rank& views(node n) { return views_[n]; }
  /// Whether the connection of the two was cut or closed.
  bool parted(node a, node b) const { return parted_.contains({std::min(a, b), std::max(a, b)}); }
  /// \param verdict asked when nothing moves any more: empty, or what is wrong
  void judge_by(std::function<std::string()> verdict) { verdicts_.push_back(std::move(verdict)); }

  // --- processes that come back -----------------------------------------------------------------

  /// Who has the place now; no_peer: it is vacant.
  weft::peer_id holder(node place) const { return members_.places[place]; }
  /// The next spare rank joins in that place. \return it; null: there is no coordinator
  rank* bring_back(node place);

  // --- the rank that keeps no rules -------------------------------------------------------------

  /// Null: there is no hostile rank, or it is gone.
  hostile_rank* hostile() noexcept {
    return plan_.hostile && there(*plan_.hostile) ? hostile_.get() : nullptr;
  }
  /// Makes the hostile rank get links to a rank, at some time.
  void want_hostile_links(node to);
  /// The hostile rank learns how that memory can be reached, as soon as it is a region.
  void knows(node owner, std::shared_ptr<shared_memory> there);
  /// The hostile rank ends. \return false: it had ended, or there is none
  bool end_hostile();

  // --- disasters ------------------------------------------------------------------------------

  void kill(node n);
  void leave(node n);            ///< in good order: its context ends
  void cut(node a, node b);      ///< the connection breaks
  void close(node at, node to);  ///< endpoint::close

  // --- a run ----------------------------------------------------------------------------------

  /// Steps until nothing moves any more; checks after each step. \return false: it never ends
  bool run();
  void judge_rest();  ///< called when nothing moves
  void stop_everybody();
  bool everybody_stops() const noexcept { return everybody_stops_; }
  void judge_stopped();  ///< called then, when nothing moves
  void end_everybody();  ///< ends all ranks, and checks what each has left

  std::uint64_t steps() const noexcept { return steps_; }
  std::uint64_t most_work() const noexcept { return most_work_; }
  std::uint64_t frames() const noexcept { return accounts_.frames(); }

 private:
  struct connection {
    node from;
    node to;
    weft::endpoint there;  // at `from`
    weft::endpoint back;   // at `to`
  };

  struct opening {
    // One link, or one by each transport.
    std::vector<std::unique_ptr<weft::transports::link>> links;
    std::vector<weft::transports::wireup_message> letters;
    std::uint32_t credit = 0;
  };

  struct several {
    weft::endpoint who;  // the owner of the links, which outlives them
    std::unique_ptr<weft::proto::multi_rail_link> unused;  // until `who` takes the links
  };

  bool there(node n) const noexcept;
  bool is_hostile(node n) const noexcept { return plan_.hostile == n; }
  weft::transports::transport& way(node n, std::size_t i);
  weft::runtime::engine& engine_of(node n);
  std::size_t overdraft() const noexcept;
  void judge_hostile(node at);
  void judge_pass(node n);
  void judge_after_hostile(node at);
  void join(node n);
  void want(node from, weft::proto::peer& to);
  void open(node from, node to);
  void offer(node from, node to);
  void answer(node from, node to);
  std::vector<std::size_t> ways(node from, node to) const;
  weft::transports::frame_sink& frame_sink(const weft::endpoint& from, node at, std::size_t way);
  void plan_cuts(node n);
  void change_members();
  void tell_gone(node whom, node who, errc how);
  void gone(node whom, node who, errc how);
  bool apart(node a, node b) const;
  bool starved(node from, node to);
  bool hostile_calls_run(node n);
  void judge_calls(node n);
  void lost(node whom, node who, errc how);
  void end(node n, errc how, bool told_by_wires);
  nanoseconds delay(node from, node to);
  std::uint64_t hidden(node n);
  void check_step();

  const scenario& plan_;
  log& log_;
  ledger& ledger_;
  fake::world world_;
  accounts accounts_;
  std::set<std::pair<node, node>> parted_;  // the lower number first
  std::map<node, views_of_rank> views_;
  weft::collectives::job_view members_;  // as the job has them, which is the coordinator
  std::vector<std::function<std::string()>> verdicts_;
  node returned_ = 0;                         // so many spares have joined
  std::vector<std::unique_ptr<rank>> ranks_;  // null: has not joined, or keeps no rules
  std::unique_ptr<hostile_rank> hostile_;
  std::set<node> met_hostile_;       // ranks that have had a link to it, in either direction
  std::set<node> asked_by_hostile_;  // ranks that it asked for links
  std::set<node> cut_off_;           // ranks that have ended their connection with it by themselves
  std::vector<std::optional<errc>> ends_;  // how the other ranks see its end
  std::map<std::pair<node, node>, opening> opening_;
  std::map<std::pair<node, node>, several> several_;
  std::map<std::pair<node, node>, std::uint64_t> delays_;  // the number of delays thrown
  std::vector<connection> connections_;                    // whose credit is checked
  std::set<std::pair<node, node>> apart_;    // the first has been told that the second is gone
  std::uint64_t work_before_ = work_done();  // this turn
  std::uint64_t most_work_ = 0;              // of a pass, besides the work that its frames explain
  std::uint64_t frames_in_pass_ = 0;         // frames received in the pass
  bool everybody_stops_ = false;
  std::uint64_t steps_ = 0;
};

}  // namespace sim
