// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "transports/fake/transport.hpp"

namespace weft::transports::fake {

namespace {

/// A pseudo-random number that depends only on the argument (the finaliser of SplitMix64).
std::uint64_t scatter_bits(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace

world::world(settings s) : settings_(s), random_(s.seed) {}

world::~world() = default;

void world::enter(node n, runtime::engine& e, fake_transport& t) {
  const auto held = lock();
  inhabitant& who = nodes_[n];
  if (who.engine && who.engine != &e)
    throw std::logic_error("there is a node of that number already");
  who.engine = &e;
  who.transports.push_back(&t);
}

void world::leave(node n, fake_transport& t) noexcept {
  const auto held = lock();
  const auto it = nodes_.find(n);
  std::erase(it->second.transports, &t);
  if (it->second.transports.empty()) nodes_.erase(it);
}

bool world::alive(node n) const noexcept {
  const auto it = nodes_.find(n);
  return it != nodes_.end() && !it->second.dead;
}

time world::awake_since(node n) const noexcept {
  const auto it = nodes_.find(n);
  return it == nodes_.end() ? time{0} : it->second.awake_since;
}

/// In real time the node may sleep.
void world::wake(node n) noexcept {
  if (!settings_.real_time) return;
  if (const auto it = nodes_.find(n); it != nodes_.end())
    for (fake_transport* t : it->second.transports) t->ring();
}

void world::at(time when, std::function<void()> what) {
  events_.emplace(event_key{when, ++last_event_}, std::move(what));
}

bool world::do_what_is_due() {
  bool something = false;
  while (!events_.empty() && events_.begin()->first.first <= elapsed_) {
    const auto first = events_.extract(events_.begin());
    first.mapped()();
    something = true;
  }
  return something;
}

bool world::turn_everybody() {
  std::vector<std::pair<node, runtime::engine*>> order;
  for (const auto& [n, who] : nodes_)
    if (!who.dead && who.stalled_until <= elapsed_) order.emplace_back(n, who.engine);
  std::shuffle(order.begin(), order.end(), random_);
  unsigned events = 0;
  for (const auto& [n, e] : order) {
    events += e->poll_once();
    if (turned) turned(n);
  }
  return events != 0;
}

bool world::step() {
  const bool done = do_what_is_due();
  if (turn_everybody() || done) {
    elapsed_ += settings_.turn;
    return true;
  }
  const std::optional<time> next = next_moment();
  if (!next) return false;
  elapsed_ = std::max(elapsed_, *next);
  return true;
}

std::size_t world::run_until_quiet() {
  std::size_t steps = 0;
  // An operation that ends in a turn without events (a cancellation) completes at the end of that
  // turn and may begin a new one: the world is quiet after two turns in a row without events.
  for (int quiet = 0; quiet != 2; ++steps) quiet = step() ? 0 : quiet + 1;
  return steps;
}

void world::kill(node n, bool told) {
  const auto it = nodes_.find(n);
  if (it == nodes_.end()) throw std::logic_error("there is no node of that number");
  it->second.dead = true;
  for (fake_transport* t : it->second.transports) t->die(told);
  if (!told) return;
  for (const auto& [other, who] : nodes_)
    if (other != n)
      for (fake_transport* t : who.transports) t->lose(n, true);
}

void world::stall(node n, time until) {
  const auto it = nodes_.find(n);
  if (it == nodes_.end() || until <= it->second.stalled_until) return;
  it->second.stalled_until = it->second.awake_since = until;
  at(until, [] {});
}

void world::cut(node a, node b, std::string_view which) {
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)})
    if (const auto it = nodes_.find(one); it != nodes_.end())
      for (fake_transport* t : it->second.transports)
        if (which.empty() || t->traits().name == which) t->lose(other, true);
}

void world::give_up(node end, node other, std::string_view which) {
  if (const auto it = nodes_.find(end); it != nodes_.end())
    for (fake_transport* t : it->second.transports)
      if (which.empty() || t->traits().name == which) t->lose(other, false);
}

std::optional<time> world::next_moment() const noexcept {
  std::optional<time> next;
  const auto consider = [&](time when) {
    if (!next || when < *next) next = when;
  };
  if (!events_.empty()) consider(events_.begin()->first.first);
  for (const auto& [n, who] : nodes_) {
    if (who.dead) continue;
    // Frames and timers of a stalled node wait until it is awake.
    for (const fake_transport* t : who.transports)
      if (const auto due = t->next_moment()) consider(std::max(*due, who.stalled_until));
    const runtime::engine::holder hold(*who.engine);
    const runtime::time_point timer = who.engine->next_deadline();
    if (timer != runtime::time_point::max())
      consider(std::max<time>(timer.time_since_epoch(), who.stalled_until));
  }
  return next;
}

/// The delay of each frame depends on the seed, the wire and its number there, and on no other
/// event: a run from which events are removed resembles the whole run.
time world::arrival(wire& w) const noexcept { return elapsed() + way(w, w.sent++); }

time world::way(const wire& w, std::uint64_t number) const noexcept {
  const auto span = static_cast<std::uint64_t>((w.how.longest_way - w.how.shortest_way).count());
  const std::uint64_t extra = chance_of(w, number) % (span + 1);
  return w.how.shortest_way + time(static_cast<time::rep>(extra));
}

std::uint64_t world::chance_of(const wire& w, std::uint64_t number) const noexcept {
  const std::uint64_t place = std::uint64_t{w.from} << 48 | std::uint64_t{w.to} << 32 | number;
  return scatter_bits(settings_.seed ^ scatter_bits(place));
}

std::uint64_t world::offer(std::shared_ptr<wire> w) {
  offers_.emplace(++last_offer_, std::move(w));
  return last_offer_;
}

std::shared_ptr<wire> world::take_offer(std::uint64_t number) {
  const auto it = offers_.find(number);
  if (it == offers_.end()) return nullptr;
  std::shared_ptr<wire> w = std::move(it->second);
  offers_.erase(it);
  return w;
}

}  // namespace weft::transports::fake
