// SPDX-License-Identifier: Apache-2.0
#include "sim/job.hpp"

#include <algorithm>

namespace sim {

using weft::errc;
using weft::proto::peer;
using weft::runtime::engine;
using weft::transports::wireup_message;

namespace {

// Runs end after a few thousand steps; one that has not by then never ends.
constexpr std::uint64_t most_steps = 1'000'000;

fake::settings settings_of(const scenario& p) {
  fake::settings s;
  s.seed = p.wanted.seed;
  s.turn = p.turn;
  return s;
}

}  // namespace

job::job(const scenario& p, log& l, ledger& book)
    : plan_(p),
      log_(l),
      ledger_(book),
      world_(settings_of(p)),
      accounts_(l, p.turn),
      ranks_(p.ranks.size()),
      ends_(p.ranks.size()) {
  log_.keep_time(world_);
  world_.watch = [this](fake::happening what, const fake::wire& w, const fake::wire::frame& f) {
    accounts_.on_wire(world_, what, w, f);
    if (what == fake::happening::delivered) ++frames_in_pass_;
  };
  ledger_.hostile = plan_.hostile;
  ledger_.gone = [this](node at_rank, node whom) {
    return weft::detail::internals::peer_of(at(at_rank).to(whom))->has_ended();
  };
  world_.may_place = [this](const fake::wire& w, weft::const_buffer into) {
    const bool may =
        is_hostile(w.to) || ledger_.lends(w.to, into) || at(w.to).receives_for_inline();
    if (!may)
      log_.violation("rank {} says that a frame of rank {} belongs to memory that nobody lent it",
                     w.to, w.from);
    return may;
  };
  world_.turned = [this](node n) { judge_pass(n); };
  ledger_.starved = [this](node from, node to) { return starved(from, to); };
  for (node n = 0; n < plan_.at_start(); ++n) members_.places.push_back(n);
  change_members();
  for (node n = 0; n < ranks_.size(); ++n) {
    views_[n].become(members_);
    if (!plan_.takes_part(n)) continue;
    if (const nanoseconds when = plan_.ranks[n].joins; when == nanoseconds{0})
      join(n);
    else
      world_.at(when, [this, n] { join(n); });
  }
}

job::~job() = default;

void job::join(node n) {
  log_.event("rank {} joins", n);
  if (is_hostile(n)) {
    hostile_ = std::make_unique<hostile_rank>(world_, n, plan_, log_);
    if (plan_.wanted.many_links) plan_cuts(n);
    return;
  }
  ranks_[n] = std::make_unique<rank>(world_, n, plan_, log_, ledger_, [this, n](node other) {
    return lives(other) && hostile_calls_run(other) &&
           at(other).messages().calls().is_busy_for(
               *weft::detail::internals::peer_of(at(other).to(n)));
  });
  ranks_[n]->connector().on_connect = [this, n](peer& to) { want(n, to); };
  for (node other = 0; other < ranks_.size(); ++other)
    if (ends_[other]) tell_gone(n, other, *ends_[other]);
  if (plan_.wanted.many_links) plan_cuts(n);
}

/// Existing links break; a link that is not made yet has to be made, to break.
void job::plan_cuts(node n) {
  for (node other = 0; other < n; ++other)
    for (std::size_t i = 0; i < plan_.transports.size(); ++i) {
      const auto when = plan_.cut(n, other, i);
      if (!when) continue;
      world_.at(*when, [this, n, other, i] {
        if (!there(n) || !there(other)) return;
        log_.event("link {} of ranks {} and {} breaks", i, n, other);
        world_.cut(n, other, plan_.transports[i].name);
      });
    }
}

bool job::lives(node n) const noexcept { return ranks_[n] && !ends_[n]; }

bool job::there(node n) const noexcept {
  return (ranks_[n] || (is_hostile(n) && hostile_)) && !ends_[n];
}

weft::transports::transport& job::way(node n, std::size_t i) {
  return is_hostile(n) ? hostile_->way(i) : at(n).way(i);
}

engine& job::engine_of(node n) { return is_hostile(n) ? hostile_->engine() : at(n).engine(); }

void job::when_there(node n, nanoseconds when, std::function<void(rank&)> what) {
  world_.at(std::max(when, plan_.ranks[n].joins), [this, n, what = std::move(what)] {
    if (lives(n)) what(at(n));
  });
}

// --- connections -----------------------------------------------------------------------------

/// As the control plane does: finds the other rank, makes a link, offers it, waits for the answer.
void job::want(node from, peer& to) {
  const node other = to.id();
  const nanoseconds asks = world_.elapsed() + delay(from, other);
  world_.at(std::max(asks, plan_.ranks[other].joins), [this, from, other] { open(from, other); });
}

/// The transports by which the first has links to the second.
std::vector<std::size_t> job::ways(node from, node to) const {
  const bool all_into_one = is_hostile(from) && plan_.enters_twice(to);
  if (!plan_.wanted.many_links && !all_into_one) return {plan_.way(from, to)};
  std::vector<std::size_t> all(plan_.transports.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

/// Progress lock held. The frame sink to which a link of that rank from that endpoint delivers.
weft::transports::frame_sink& job::frame_sink(const weft::endpoint& from, node whom,
                                              std::size_t way) {
  peer& p = *weft::detail::internals::peer_of(from);
  if (!plan_.wanted.many_links) return p;
  if (!p.connection().several()) {
    std::vector<weft::transports::traits> kinds;
    for (const std::size_t i : ways(whom, p.id())) kinds.push_back(at(whom).way(i).traits());
    several_.insert_or_assign(
        {whom, p.id()}, several{from, std::make_unique<weft::proto::multi_rail_link>(p, kinds)});
  }
  return p.connection().several()->frame_sink(way);
}

void job::open(node from, node to) {
  if (!there(from)) return;
  if (ends_[to]) return gone(from, to, *ends_[to]);
  opening& o = opening_[{from, to}];
  const weft::endpoint whom = is_hostile(from) ? weft::endpoint() : at(from).to(to);
  {
    const engine::holder hold(engine_of(from));
    for (const std::size_t n : ways(from, to)) {
      o.letters.emplace_back();
      weft::transports::frame_sink& ear =
          is_hostile(from) ? hostile_->frame_sink(to, n) : frame_sink(whom, from, n);
      o.links.push_back(way(from, n).open(ear, {}, o.letters.back()));
    }
  }
  world_.at(world_.elapsed() + delay(from, to), [this, from, to] { offer(from, to); });
}

void job::offer(node from, node to) {
  if (!there(from) || !there(to) || apart(from, to) || apart(to, from)) return;
  opening& o = opening_[{from, to}];
  const weft::endpoint back = is_hostile(to) ? weft::endpoint() : at(to).to(from);
  {
    const engine::holder hold(engine_of(to));
    auto letter = o.letters.begin();
    for (const std::size_t n : ways(from, to)) {
      wireup_message reply;
      weft::transports::frame_sink& ear =
          is_hostile(to) ? hostile_->frame_sink(from, n) : frame_sink(back, to, n);
      const std::string refusal = way(to, n).accept(ear, {}, std::move(*letter++), reply);
      if (!refusal.empty()) return log_.violation("rank {} refuses a link: {}", to, refusal);
    }
    o.credit = is_hostile(to)
                   ? hostile_->grants(from)
                   : weft::detail::internals::peer_of(back)->writer().grant_first_credit();
  }
  if (is_hostile(to) && hostile_->keeps_silent(from)) return;
  if (is_hostile(from)) met_hostile_.insert(to);
  log_.event("rank {} accepts a link from rank {} and grants {} units", to, from, o.credit);
  world_.at(world_.elapsed() + delay(from, to), [this, from, to] { answer(from, to); });
}

void job::answer(node from, node to) {
  if (!there(from) || apart(from, to)) return;
  if (is_hostile(from)) {
    opening& o = opening_[{from, to}];
    return hostile_->linked(to, std::move(o.links), o.credit);
  }
  if (is_hostile(to)) met_hostile_.insert(from);
  const weft::endpoint there = at(from).to(to);
  {
    opening& o = opening_[{from, to}];
    const engine::holder hold(at(from).engine());
    for (std::size_t i = 0; i < o.links.size(); ++i) {
      static_cast<void>(o.links[i]->opened({}));
      if (!plan_.wanted.many_links)
        weft::detail::internals::peer_of(there)->opened(std::move(o.links[i]), o.credit);
      else
        weft::detail::internals::peer_of(there)->connection().several()->join(
            i, std::move(o.links[i]));
    }
    o.links.clear();
    const auto found = several_.find({from, to});
    if (found != several_.end() && found->second.unused &&
        weft::detail::internals::peer_of(there)->writer().takes_link())
      weft::detail::internals::peer_of(there)->opened(std::move(found->second.unused), o.credit);
  }
  log_.event("rank {} has a link to rank {}", from, to);
  // With several links credit travels inside other frames, and is sent again when a link breaks.
  if (lives(to) && !plan_.wanted.many_links)  // a hostile rank keeps no account
    connections_.push_back({from, to, there, at(to).to(from)});
}

nanoseconds job::delay(node from, node to) {
  constexpr std::uint64_t part_of_plan = 100;
  return plan_.chance.part(part_of_plan)
      .part(from)
      .part(to)
      .part(++delays_[{from, to}])
      .up_to(std::chrono::microseconds(50));
}

bool job::apart(node a, node b) const { return apart_.contains({a, b}); }

/// As the control plane does when it learns that a rank is gone; it may learn that twice.
void job::gone(node whom, node who, errc how) {
  if (!lives(whom) || !apart_.insert({whom, who}).second) return;
  log_.event("rank {} is told that rank {} is gone ({})", whom, who, static_cast<int>(how));
  const weft::endpoint it = at(whom).to(who);
  const engine::holder hold(at(whom).engine());
  opening_[{whom, who}].links.clear();
  for (const std::size_t way : ways(who, whom)) at(whom).way(way).forget(frame_sink(it, whom, way));
  weft::detail::internals::peer_of(it)->give_up(how, "the control plane says so");
  weft::detail::internals::peer_of(it)->drop_link();
  several_.erase({whom, who});
}

void job::tell_gone(node whom, node who, errc how) {
  const nanoseconds when = world_.elapsed() + delay(whom, who);
  for (int times = 0; times < 2; ++times)
    world_.at(when + times * delay(whom, who), [this, whom, who, how] { gone(whom, who, how); });
}

void job::lost(node whom, node who, errc how) {
  ledger_.spoil(whom, who, how);
  accounts_.forget(whom, who);
  std::erase_if(connections_, [&](const connection& c) {
    return (c.from == who && c.to == whom) || (c.from == whom && c.to == who);
  });
}

/// Every rank learns of it from rank 0, each at its time, or that rank 0 has ended.
void job::change_members() {
  if (ends_[0]) {
    for (node n = 0; n < ranks_.size(); ++n)
      world_.at(world_.elapsed() + delay(n, n), [this, n] { views_[n].lose(); });
    return;
  }
  ++members_.epoch;
  members_.ranks.clear();
  for (node n = 0; n < ranks_.size(); ++n)
    if (!ends_[n] && n < plan_.at_start() + returned_) members_.ranks.push_back(n);
  for (node n = 0; n < ranks_.size(); ++n)
    world_.at(world_.elapsed() + delay(n, n), [this, n, now = members_] { views_[n].become(now); });
}

/// Whether a message may wait for credit: the sender has too little to begin one, the receiver owes
/// it none, and the budget has none, so that it gets none before the receiver takes a message. The
/// hostile rank keeps no account, and may owe.
bool job::starved(node from, node to) {
  const auto flow = [this](node n, node whom) -> const weft::proto::flow_control& {
    return weft::detail::internals::peer_of(at(n).to(whom))->writer().flow();
  };
  if (flow(from, to).can_begin_message(false)) return false;
  if (is_hostile(to)) return true;
  const weft::proto::flow_control& granted = flow(to, from);
  return granted.to_return() == 0 &&
         !(granted.should_grow() && at(to).messages().memory().left() > 0);
}

/// The hostile rank may let the handlers of its calls wait.
bool job::hostile_calls_run(node n) {
  if (!plan_.hostile) return false;
  const auto& calls = weft::detail::internals::peer_of(at(n).to(*plan_.hostile))->calls;
  return calls && calls->running != 0;
}

/// At rest, all calls of correct ranks that have come are answered, and the answers have left: so
/// no call holds credit.
void job::judge_calls(node n) {
  for (node caller = 0; caller < ranks_.size(); ++caller) {
    if (caller == n || is_hostile(caller)) continue;
    const weft::endpoint from = at(n).to(caller);
    const auto& calls = weft::detail::internals::peer_of(from)->calls;
    if (!calls) continue;
    const bool may_wait = hostile_calls_run(n) && at(n).messages().calls().is_busy_for(
                                                      *weft::detail::internals::peer_of(from));
    if (calls->served != 0 || (calls->waiting.first && !may_wait))
      log_.violation("at rank {}, {} calls of rank {} are not over{}", n, calls->served, caller,
                     calls->waiting.first ? ", and others wait" : "");
  }
}

rank* job::bring_back(node place) {
  if (ends_[0]) return nullptr;
  const node n = plan_.at_start() + returned_++;
  log_.event("rank {} comes back in place {}", n, place);
  members_.places[place] = n;
  join(n);
  change_members();
  views_[n].become(members_);
  return ranks_[n].get();
}

// --- disasters -------------------------------------------------------------------------------

void job::end(node n, errc how, bool told_by_wires) {
  ends_[n] = how;
  ledger_.spoil_everything(n, errc::closed);
  for (node other = 0; other < ranks_.size(); ++other) {
    if (other == n) continue;
    lost(other, n, how);
    tell_gone(other, n, how);
  }
  if (how == errc::peer_lost)
    std::replace(members_.places.begin(), members_.places.end(), weft::peer_id{n}, weft::no_peer);
  change_members();
  world_.kill(n, told_by_wires);
}

void job::kill(node n) {
  if (!there(n)) return;
  log_.event("rank {} dies", n);
  end(n, errc::peer_lost, delay(n, n).count() % 2 == 0);
}

void job::leave(node n) {
  if (!there(n)) return;
  log_.event("rank {} leaves", n);
  ledger_.spoil_everything(n, errc::closed);
  if (!is_hostile(n)) {
    at(n).end();
    at(n).judge_remains();
  }
  end(n, errc::closed, false);
}

void job::cut(node a, node b) {
  if (!there(a) || !there(b)) return;
  log_.event("the connection of ranks {} and {} breaks", a, b);
  parted_.emplace(std::min(a, b), std::max(a, b));
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    lost(one, other, errc::peer_lost);
    tell_gone(one, other, errc::peer_lost);
  }
  world_.cut(a, b);
}

void job::close(node from, node to) {
  if (!lives(from)) return;
  log_.event("rank {} closes rank {}", from, to);
  parted_.emplace(std::min(from, to), std::max(from, to));
  ledger_.closes(from, to);
  lost(from, to, errc::closed);
  lost(to, from, errc::closed);
  at(from).to(to).close();
}

// --- a run -----------------------------------------------------------------------------------

bool job::run() {
  for (int quiet = 0; quiet != 2; ++steps_) {
    if (steps_ == most_steps || !log_.clean()) {
      if (log_.clean()) log_.violation("it never comes to rest");
      return false;
    }
    quiet = world_.step() ? 0 : quiet + 1;
    check_step();
  }
  return true;
}

/// Operations that weft may have under way for those that the ledger knows, and for replies.
std::uint64_t job::hidden(node n) { return ledger_.hidden(n) + at(n).messages().calls().served(); }

void job::check_step() {
  for (node n = 0; n < ranks_.size(); ++n) {
    if (!lives(n)) continue;
    const engine::holder hold(at(n).engine());
    const auto told = ledger_.pending(n) + hidden(n);
    if (at(n).engine().outstanding() > told)
      log_.violation("rank {} has {} operations outstanding, and {} were begun and did not end", n,
                     at(n).engine().outstanding(), told);
    if (const auto now = at(n).messages().counts().unexpected_bytes_now;
        now > plan_.ranks[n].unexpected_budget + overdraft())
      log_.violation("rank {} keeps {} bytes of unexpected messages, beyond its budget of {}", n,
                     now, plan_.ranks[n].unexpected_budget);
  }
  for (const node n : met_hostile_)
    if (lives(n) && !apart(n, *plan_.hostile)) judge_hostile(n);
  for (const connection& c : connections_)
    accounts_.check_credit(*weft::detail::internals::peer_of(c.there), c.from,
                           *weft::detail::internals::peer_of(c.back), c.to);
}

void job::judge_rest() {
  for (const node n : met_hostile_)
    if (lives(n) && (hostile() == nullptr || apart(n, *plan_.hostile))) judge_after_hostile(n);
  ledger_.at_rest([this](node n) { return lives(n); });
  for (node n = 0; n < ranks_.size(); ++n)
    if (lives(n)) judge_calls(n);
  for (const auto& verdict : verdicts_)
    if (const std::string wrong = verdict(); !wrong.empty()) log_.violation("{}", wrong);
  for (node n = 0; n < ranks_.size(); ++n) {
    if (!lives(n)) continue;
    const engine::holder hold(at(n).engine());
    const auto all = at(n).engine().outstanding();
    if (const auto told = ledger_.pending(n); all < told || all > told + hidden(n))
      log_.violation("rank {} rests with {} operations outstanding, but {} wait", n, all, told);
  }
}

void job::stop_everybody() {
  log_.event("everybody is asked to stop");
  everybody_stops_ = true;
  for (node n = 0; n < ranks_.size(); ++n)
    if (lives(n)) at(n).stop();
}

void job::judge_stopped() {
  for (node n = 0; n < ranks_.size(); ++n) {
    if (!lives(n)) continue;
    if (const auto waiting = ledger_.pending(n); waiting != 0 && log_.clean())
      log_.violation("{} operations of rank {} do not stop", waiting, n);
  }
}

void job::end_everybody() {
  log_.event("everybody ends");
  world_.watch = nullptr;  // later events are no fault of any rank
  judge_stopped();
  if (const auto n = world_.shown(); n != 0 && log_.clean())
    log_.violation("{} pieces of memory can still be read or written by others", n);
  connections_.clear();
  for (node n = 0; n < ranks_.size(); ++n) {
    if (!ranks_[n] || ends_[n] == errc::closed) continue;
    ledger_.spoil_everything(n, errc::closed);
    at(n).end();
    at(n).judge_remains();
  }
}

}  // namespace sim
