// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "transports/fake/transport.hpp"

namespace weft::transports::fake {

world::world(settings s)
    : settings_(s),
      traits_{.name = "fake", .max_payload = s.max_payload, .fragment = s.fragment},
      random_(s.seed) {}

world::~world() = default;

void world::enter(node n, fake_transport& t) {
  if (!transports_.emplace(n, &t).second)
    throw std::logic_error("there is a node of that number already");
}

void world::leave(node n) noexcept { transports_.erase(n); }

bool world::dead(node n) const noexcept {
  const auto it = transports_.find(n);
  return it == transports_.end() || it->second->dead();
}

bool world::turn_everybody() {
  std::vector<fake_transport*> order;
  for (const auto& [n, t] : transports_)
    if (!t->dead()) order.push_back(t);
  std::shuffle(order.begin(), order.end(), random_);
  unsigned events = 0;
  for (fake_transport* t : order) events += t->engine().poll_once();
  return events != 0;
}

bool world::step() {
  if (turn_everybody()) return true;
  const std::optional<time> next = next_frame();
  if (!next) return false;
  now_ = std::max(now_, *next);
  return true;
}

std::size_t world::run_until_quiet() {
  std::size_t steps = 0;
  // What ends in a turn without events (a cancellation) is completed at the end of that turn and
  // may begin something new: it is quiet when two turns in a row brought nothing.
  for (int quiet = 0; quiet != 2; ++steps) quiet = step() ? 0 : quiet + 1;
  return steps;
}

void world::kill(node n) {
  const auto it = transports_.find(n);
  if (it == transports_.end()) throw std::logic_error("there is no node of that number");
  it->second->die();
  for (const auto& [other, t] : transports_)
    if (other != n) t->lose(n);
}

std::optional<time> world::next_frame() const noexcept {
  std::optional<time> next;
  for (const auto& [n, t] : transports_) {
    if (t->dead()) continue;
    if (const auto due = t->next_frame(); due && (!next || *due < *next)) next = due;
  }
  return next;
}

time world::arrival() {
  const auto span = (settings_.longest_way - settings_.shortest_way).count();
  return now_ + settings_.shortest_way +
         time(static_cast<time::rep>(chance(static_cast<std::uint64_t>(span) + 1)));
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
