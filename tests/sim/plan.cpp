// SPDX-License-Identifier: Apache-2.0
#include "sim/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "sim/acts.hpp"

namespace sim {

using namespace std::chrono_literals;

namespace {

// Parts of a seed's dice.
enum part : std::uint64_t {
  of_shape,
  of_ranks,
  of_transports,
  of_ways,
  of_acts,
  of_rest,
  of_cuts,
  of_entries,
  of_spares
};

constexpr std::array<std::size_t, 6> budgets{0, 1000, 8192, 65'536, 300'000, 4u << 20};
constexpr std::array<std::size_t, 4> eager_limits{100, 4096, 20'000, 65'536};
constexpr std::array<std::size_t, 5> rooms{1, 2, 4, 16, 64};
constexpr std::array<std::size_t, 3> frames_per_poll{1, 4, 64};
constexpr std::array<std::uint32_t, 4> payloads{64, 500, 4096, 16'384};
constexpr std::array<nanoseconds, 4> longest_ways{500ns, 5us, 50us, 1ms};
constexpr std::array<fake::memory, 3> memories{fake::memory::hidden, fake::memory::readable,
                                               fake::memory::refused_late};
constexpr std::array<std::size_t, 3> transfers{1, 2, 64};
constexpr std::array<unsigned, 3> failing{0, 0, 30};
constexpr std::array<weft::rendezvous_scheme, 5> ways{
    weft::rendezvous_scheme::automatic, weft::rendezvous_scheme::automatic,
    weft::rendezvous_scheme::frames, weft::rendezvous_scheme::get, weft::rendezvous_scheme::put};
constexpr std::array<unsigned, 4> calls_at_once{1, 3, 256, 256};
constexpr std::array<const char*, 3> transport_names{"near", "far", "odd"};

fake::manner throw_transport(dice d, const char* name) {
  fake::manner m;
  m.name = name;
  m.longest_way = d.one_of(longest_ways);
  m.shortest_way = m.longest_way / static_cast<int>(d.between(1, 20));
  m.room = d.one_of(rooms);
  m.frames_per_poll = d.one_of(frames_per_poll);
  m.max_payload = d.one_of(payloads);
  m.fragment = m.max_payload / static_cast<std::uint32_t>(d.between(1, 4)) / 64 * 64;
  m.fragment = std::max<std::uint32_t>(m.fragment, 64);
  m.memory = d.one_of(memories);
  m.holds = d.percent(30);
  m.places = d.percent(30);
  m.placed = d.percent(50) ? 100 : 50;
  m.later = d.percent(50);
  m.transfers = d.one_of(transfers);
  m.prefers_put = d.percent(40);
  // A link that fails in order would cut a connection, of which the plan must know.
  m.fails_in_order = d.percent(30);
  m.failing = m.fails_in_order ? 0 : d.one_of(failing);
  m.chains = d.percent(50);
  m.measures = d.percent(30);
  return m;
}

const act_kind& throw_kind(dice& d) {
  unsigned all = 0;
  for (const act_kind& k : act_kinds()) all += k.weight;
  std::uint64_t chosen = d.below(all);
  for (const act_kind& k : act_kinds()) {
    if (chosen < k.weight) return k;
    chosen -= k.weight;
  }
  return act_kinds().front();
}

/// \param of_losses whether the kind may be one after which a rank, or a pair, is apart for good
act throw_act(dice d, unsigned number, unsigned ranks, nanoseconds duration, bool of_losses) {
  act a;
  a.number = number;
  do a.kind = &throw_kind(d);
  while (a.kind->parts && !of_losses);
  a.first = static_cast<node>(d.below(ranks));
  a.second = static_cast<node>((a.first + 1 + d.below(ranks - 1)) % ranks);
  a.when = d.up_to(duration);
  a.chance = d.part(0);
  return a;
}

/// An act of the last rank against one of the others.
act throw_hostility(dice d, unsigned number, node hostile) {
  act a;
  a.number = number;
  a.kind = &hostility();
  a.first = hostile;
  a.second = static_cast<node>(d.below(hostile));
  a.when = d.up_to(300us);
  a.chance = d.part(0);
  return a;
}

}  // namespace

std::string wishes::command() const {
  std::string text = fmt::format("weft-sim --seed {}", seed);
  if (ranks) text += fmt::format(" --ranks {}", *ranks);
  if (messages) text += fmt::format(" --messages {}", *messages);
  if (only) text += fmt::format(" --only {}", fmt::join(*only, ","));
  if (!plant.empty()) text += " --plant " + plant;
  if (many_links) text += " --many-links";
  if (hostile) text += " --hostile";
  if (returns) text += " --returns";
  if (frames) text += fmt::format(" --frames {}", *frames);
  return text + " --trace";
}

std::size_t scenario::way(node a, node b) const {
  return chance.part(of_ways).part(std::min(a, b)).part(std::max(a, b)).below(transports.size());
}

bool scenario::enters_twice(node victim) const {
  return !wanted.many_links && chance.part(of_entries).part(victim).percent(30);
}

std::optional<nanoseconds> scenario::cut(node a, node b, std::size_t transport) const {
  dice d = chance.part(of_cuts).part(std::min(a, b)).part(std::max(a, b));
  if (d.below(transports.size()) == transport) return {};  // at least one transport is left
  d = d.part(transport);
  if (d.percent(30)) return {};
  return d.up_to(600us);
}

bool scenario::takes_part(node n) const {
  if (spares != 0) return n < at_start();
  return std::any_of(acts.begin(), acts.end(),
                     [n](const act& a) { return a.first == n || a.second == n; });
}

scenario make_plan(const wishes& w) {
  const dice all(w.seed);
  scenario p;
  p.wanted = w;
  p.chance = all;

  dice shape = all.part(of_shape);
  auto ranks = static_cast<unsigned>(shape.between(2, shape.percent(10) ? 8 : 5));
  dice large = all.part(of_spares).part(0);
  const bool is_large = w.returns && large.percent(3);
  if (is_large) ranks = static_cast<unsigned>(large.between(9, 20));
  if (w.returns) p.spares = static_cast<unsigned>(all.part(of_spares).between(1, 6));
  p.ranks.resize(w.ranks.value_or(ranks) + (w.hostile ? 1 : 0) + p.spares);
  if (w.hostile) p.hostile = static_cast<node>(p.ranks.size() - 1);
  p.transports.resize(shape.between(1, transport_names.size()));
  p.turn = nanoseconds(shape.between(50, 2000));
  p.acts_in_all = static_cast<unsigned>(shape.between(1, shape.percent(10) ? 30 : 10));
  if (is_large) p.acts_in_all = 0;

  for (std::size_t i = 0; i < p.transports.size(); ++i)
    p.transports[i] = throw_transport(all.part(of_transports).part(i), transport_names[i]);
  if (w.many_links) {
    for (std::size_t i = p.transports.size(); i < 2; ++i)
      p.transports.push_back(throw_transport(all.part(of_transports).part(i), transport_names[i]));
    for (fake::manner& m : p.transports) m.max_payload = std::max(m.max_payload, 128u);
  }
  for (std::size_t i = 0; i < p.ranks.size(); ++i) {
    dice d = all.part(of_ranks).part(i);
    p.ranks[i].unexpected_budget = d.one_of(budgets);
    p.ranks[i].eager_limit = d.one_of(eager_limits);
    if (d.percent(15)) p.ranks[i].joins = d.up_to(500us);
    p.ranks[i].rendezvous = d.one_of(ways);
    if (d.percent(30)) p.ranks[i].eager_data = weft::rendezvous_eager_data::no;
    p.ranks[i].calls_at_once = d.one_of(calls_at_once);
  }
  const auto wanted = [&w](unsigned i) {
    return !w.only || std::count(w.only->begin(), w.only->end(), i) != 0;
  };
  for (unsigned i = 0; i < p.acts_in_all; ++i)
    if (wanted(i))
      p.acts.push_back(throw_act(all.part(of_acts).part(i), i, p.at_start(), 300us, !w.returns));
  if (w.returns)
    p.acts.push_back({p.acts_in_all++, &restoration(), 0, 1, 0us, all.part(of_spares)});
  if (!p.hostile) return p;
  for (std::uint64_t more = shape.between(1, 6); more != 0; --more, ++p.acts_in_all)
    if (wanted(p.acts_in_all))
      p.acts.push_back(
          throw_hostility(all.part(of_acts).part(p.acts_in_all), p.acts_in_all, *p.hostile));
  return p;
}

}  // namespace sim
