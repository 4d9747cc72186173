// SPDX-License-Identifier: Apache-2.0
// Where eager ends and rendezvous begins, for each transport: both sides send and receive at once,
// in turns on contexts with the limits of SHIBA (one for all transports, or a longer one over
// shared memory) and with weft's own; figure 5 of its paper. And the same two processes over
// another transport instead: figures 3 and 4.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/core.hpp"
#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/ways.hpp"

namespace weft::bench::eager_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct contestant {
  const char* transport;
  const char* limit;  ///< a value of WEFT_EAGER_LIMIT
};

/// The first one is the reference of figure 5.
constexpr contestant contestants[] = {{"shm", "8k"},    {"shm", "256k"}, {"shm", "auto"},
                                      {"tcp", "8k"},    {"tcp", "auto"}, {"verbs", "8k"},
                                      {"verbs", "auto"}};
constexpr std::size_t constant = 0, own = 2;

options with(const settings& chosen, const contestant& c) {
  options result = options_of(chosen);
  result.transports = {"self", c.transport};
  result.apply(std::string("WEFT_EAGER_LIMIT=") + c.limit);
  return result;
}

/// Whether this machine has the transport: verbs needs a device.
bool can_run(const place& at, const contestant& c) {
  const auto& made = weft::detail::core_of(at.ctx).transports();
  return std::any_of(made.begin(), made.end(),
                     [&](const auto& t) { return t.name == c.transport; });
}

plan plan_of(std::size_t size, double effort) {
  return plan{
      .warm_up = 4, .batches = 5, .per_batch = std::clamp<std::size_t>(2 * mib / (size + 1), 4, 40)}
      .scaled(effort);
}

json line_of(const ways_request& wanted, const contestant& c, std::size_t size,
             const medians_of_rounds& us, std::size_t way) {
  std::vector<double> both_ways;
  for (const double one : us[way]) both_ways.push_back(2 * static_cast<double>(size) / one);
  settings named = wanted.chosen;
  named.transport = c.transport;
  json line = make_line(head_of("eager", named, size), mb_s, both_ways);
  line["eager_limit"] = c.limit;
  line["us"] = median(us[way]);
  // Of bandwidth, so the other way round.
  line["to_constant"] = median_ratio(us[constant], us[way]);
  line["to_own"] = median_ratio(us[own], us[way]);
  return line;
}

void act(pair_member& member, const ways_request& wanted) {
  std::deque<place> places;
  std::vector<contestant> those;
  for (const contestant& c : contestants) {
    if (can_run(places.emplace_back(with(wanted.chosen, c)), c)) {
      places.back().meet(member);
      those.push_back(c);
    } else {
      places.pop_back();
    }
  }
  compare(member, wanted, "both send and receive at once, ratios are of bandwidth",
          {{"size", "size"},
           {"transport", "transport"},
           {"eager up to", "eager_limit"},
           {"MB/s both ways", "mb_s"},
           {"p10", "p10"},
           {"p90", "p90"},
           {"µs an exchange", "us"},
           {"to shm, 8k", "to_constant"},
           {"to shm, auto", "to_own"}},
          {.count = those.size(),
           .measure =
               [&](std::size_t way, std::size_t size) {
                 const side me = side_at(places[way], member);
                 return run(me.ctx, exchanges(me, size, plan_of(size, wanted.what.effort)));
               },
           .line =
               [&](std::size_t way, std::size_t size, const medians_of_rounds& us) {
                 return line_of(wanted, those[way], size, us, way);
               }});
}

}  // namespace

void add(CLI::App& app) {
  add_ways_command(app, "Limits of eager messages, over shared memory and over other transports",
                   std::make_shared<ways_request>(ways_request{
                       .chosen = {.progress = "polling"},  // as MPICH2 does
                       .what = {.bench = "eager",
                                .sizes = {4, kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib,
                                          128 * kib, 256 * kib, 512 * kib, mib, 4 * mib}}}),
                   act, {.transport = false});
}

}  // namespace weft::bench::eager_command
