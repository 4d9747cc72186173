// SPDX-License-Identifier: Apache-2.0
#include "clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

namespace weft::traces {

namespace {

using nlohmann::json;

// Times are written with three digits.
constexpr double rounding = 0.01;

/// From a rank to another one, of one size.
using flow = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
using times = std::map<flow, std::vector<double>>;

/// What is to be added to the clock of the second of two hosts is between these.
struct bounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool both() const noexcept {
    return least > -std::numeric_limits<double>::infinity() &&
           most < std::numeric_limits<double>::infinity();
  }
};

/// One kernel, with its ranks.
struct host {
  times sent, received;
  double time_of_day = 0;
  std::uint32_t first_rank = 0;
};

void add(host& to, const part& p) {
  if (p.overwritten != 0) return;  // the first ones are missing, and the n-th is another one
  for (const std::string& line : p.events) {
    const bool is_sent = line.starts_with(R"({"name":"posted")");
    if (!is_sent && !line.starts_with(R"({"name":"received")")) continue;
    const json e = json::parse(line, nullptr, false);
    if (e.is_discarded()) continue;
    const auto peer = e.value("/args/peer"_json_pointer, std::uint32_t{0});
    const auto bytes = e.value("/args/bytes"_json_pointer, std::uint64_t{0});
    const flow f = is_sent ? flow{p.rank, peer, bytes} : flow{peer, p.rank, bytes};
    (is_sent ? to.sent : to.received)[f].push_back(e.value("ts", 0.0));
  }
}

/// The least that the n-th receive of each flow comes behind the n-th send; infinite: no flow.
double least_delay(const times& sent, const times& received) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [f, in] : received) {
    const auto out = sent.find(f);
    // More were received than sent: what is in the files is not all.
    if (out == sent.end() || out->second.size() < in.size()) continue;
    for (std::size_t n = 0; n != in.size(); ++n) least = std::min(least, in[n] - out->second[n]);
  }
  return least;
}

}  // namespace

std::map<std::string, shift> clocks_of(const std::vector<part>& parts) {
  std::map<std::string, host> hosts;
  for (const part& p : parts) {
    auto [at, is_new] = hosts.try_emplace(p.clock);
    host& h = at->second;
    h.first_rank = is_new ? p.rank : std::min(h.first_rank, p.rank);
    h.time_of_day = p.time_of_day;
    add(h, p);
  }
  if (hosts.empty()) return {};
  for (auto& [name, h] : hosts)
    for (times* all : {&h.sent, &h.received})
      for (auto& [f, list] : *all) std::ranges::sort(list);

  const auto first =
      std::ranges::min_element(hosts, {}, [](const auto& one) { return one.second.first_rank; });
  std::map<std::string, shift> known{{first->first, {0, 0, "the clock of the first rank"}}};
  // From one whose clock is known to the next one: not all talk to the first one.
  for (bool found = true; found;) {
    found = false;
    for (const auto& [name, h] : hosts) {
      if (known.contains(name)) continue;
      shift best{0, -1};
      for (const auto& [other, of_other] : known) {
        if (of_other.error < 0) continue;
        const host& o = hosts.at(other);
        // A receive here is no earlier than its send there, and the other way round.
        const bounds b{-least_delay(o.sent, h.received) + of_other.add,
                       least_delay(h.sent, o.received) + of_other.add};
        if (!b.both() || b.least > b.most + rounding) continue;
        const double error = std::max(rounding, (b.most - b.least) / 2) + of_other.error;
        if (best.error < 0 || error < best.error) best = {(b.least + b.most) / 2, error, {}};
      }
      if (best.error < 0) continue;
      best.how = fmt::format("by messages in both directions, within {:.1f} µs", best.error);
      known[name] = best;
      found = true;
      break;
    }
  }
  for (const auto& [name, h] : hosts)
    known.try_emplace(name,
                      shift{h.time_of_day - first->second.time_of_day, -1,
                            "by the time of day of the hosts, as wrong as that is: the traces "
                            "have no messages in both directions, or not all of them"});
  return known;
}

}  // namespace weft::traces
