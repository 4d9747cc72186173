// SPDX-License-Identifier: Apache-2.0
// Kinds of transfers, as figures 4 to 6 of the paper on VIA2SISCI have them: a copy by ordinary
// stores, one by streaming stores, and an engine; and those of weft that copy once. The same two
// processes have a context for each, and these take turns; beside them one core's memcpy.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "messages/kinds_proposal.hpp"
#include "messages/kinds_transfers.hpp"
#include "stage/report.hpp"
#include "stage/ways.hpp"

namespace weft::bench::kinds_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct request : ways_request {
  bool latency = false;
  bool reads = false;
  bool cold = false;
  bool proposes = false;
  std::vector<std::string> kinds{};

  kinds_transfer transfer() const { return {latency ? 0 : what.window, reads, cold}; }
};

struct kind {
  const char* name;
  const char* transport;
  const char* copy = "auto";    ///< WEFT_SHM_COPY
  const char* stores = "auto";  ///< WEFT_SHM_STORES
  bool from_shared = false;     ///< the sender's buffers are weft::shared_memory
};

/// The first one is the reference of the others.
constexpr kind kinds[] = {{"ordinary", "shm", "pipeline", "ordinary"},
                          {"streaming", "shm", "pipeline", "streaming:4k"},
#ifndef WEFT_WITHOUT_QDMA
                          {"engine", "qdma"},
#endif
                          {"cma", "shm", "cma"},
                          {"direct", "shm", "direct", "auto", true}};

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names;
  for (const kind& k : kinds) names.emplace_back(k.name);
  return names;
}

/// Those that were asked for; without a wish all.
std::vector<kind> chosen_kinds(const std::vector<std::string>& names) {
  std::vector<kind> chosen;
  for (const kind& k : kinds)
    if (names.empty() || std::find(names.begin(), names.end(), k.name) != names.end())
      chosen.push_back(k);
  return chosen;
}

options with(const settings& chosen, const kind& k) {
  options result = options_of(chosen);
  result.transports = {"self", k.transport};
  result.apply(std::string("WEFT_SHM_COPY=") + k.copy);
  result.apply(std::string("WEFT_SHM_STORES=") + k.stores);
  // The engine reads and writes by itself; in frames the processes would copy.
  if (std::string_view(k.transport) == "qdma") result.apply("WEFT_RENDEZVOUS=get");
  return result;
}

struct figures {
  std::string transport, name;
  std::vector<double> medians;  // one for each round
};

void tell(report& out, const request& wanted, std::size_t size, const std::vector<figures>& all) {
  for (const figures& one : all) {
    settings named = wanted.chosen;
    named.transport = one.transport;
    auto line =
        make_line(head_of("kinds", named, size), wanted.latency ? half_rtt_us : mb_s, one.medians);
    line["measure"] = wanted.latency ? "latency" : "bandwidth";
    line["kind"] = one.name;
    line["window"] = wanted.transfer().in_flight();
    line["buffers"] = wanted.cold ? "cold" : "warm";
    line["reads"] = wanted.reads;
    line["to_ordinary"] = median_ratio(one.medians, all.front().medians);
    line["of_memcpy"] = median_ratio(one.medians, all.back().medians);
    out.add(line);
  }
}

void act(pair_member& member, const request& wanted) {
  std::deque<place> places;
  const std::vector<kind> all_kinds = chosen_kinds(wanted.kinds);
  for (const kind& k : all_kinds) places.emplace_back(with(wanted.chosen, k)).meet(member);
  report out({{"size", "size"},
              {"kind", "kind"},
              {wanted.latency ? "µs" : "MB/s", std::string(wanted.latency ? half_rtt_us : mb_s)},
              {"p10", "p10"},
              {"p90", "p90"},
              {"to ordinary", "to_ordinary"},
              {"of memcpy", "of_memcpy"}},
             wanted.chosen.as_json);
  const bool tells = member.rank() == 0;
  if (tells)
    out.title(
        fmt::format("{}, {} buffers{}; {} rounds in turns; ratios: medians of the pairs; memcpy: "
                    "on one core",
                    wanted.latency ? "half a round trip"
                                   : fmt::format("one way, {} in flight", wanted.what.window),
                    wanted.cold ? "cold" : "warm", wanted.reads ? ", read by the receiver" : "",
                    wanted.rounds));
  for (const std::size_t size : wanted.what.sizes) {
    if (tells) out.measuring(size_text(size));
    const kinds_transfer what = wanted.transfer();
    const plan loops = what.loops(size, wanted.what.effort);
    std::vector<figures> all;
    for (const kind& k : all_kinds) all.push_back({k.transport, k.name, {}});
    all.push_back({"none", "memcpy", {}});
    in_turns(wanted.rounds, all.size(), [&](std::size_t which) {
      member.barrier();
      std::vector<double>& medians = all[which].medians;
      if (which != places.size()) {
        const side me = side_at(places[which], member);
        medians.push_back(median(
            run(me.ctx, kinds_samples(me, all_kinds[which].from_shared, size, what, loops))));
      } else if (tells) {
        medians.push_back(median(kinds_plain_copies(size, what, loops)));
      }
    });
    if (tells) tell(out, wanted, size, all);
  }
  if (tells) out.finish();
  member.barrier();
}

/// The pieces that a setting can tell apart: none is longer than 16 KiB, but for the last two, of
/// which messages of several pieces are made.
constexpr std::size_t proposed_sizes[] = {4 * kib, 8 * kib, 16 * kib, 32 * kib, 48 * kib};

void propose(pair_member& member, const request& wanted) {
  constexpr kinds_transfer transfers[] = {{.window = 0, .reads = true},
                                          {.window = 1, .reads = true},
                                          {.window = 4, .reads = true},
                                          {.window = 16, .reads = true}};
  std::deque<place> places;
  for (const kind& k : {kinds[0], kinds[1]})
    places.emplace_back(with(wanted.chosen, k)).meet(member);
  std::vector<stores_ratios> all;
  for (const std::size_t size : proposed_sizes) {
    stores_ratios one{size, {}};
    for (const kinds_transfer& what : transfers) {
      const plan loops = what.loops(size, wanted.what.effort);
      std::vector<double> of[2];
      in_turns(wanted.rounds, 2, [&](std::size_t which) {
        const side me = side_at(places[which], member);
        member.barrier();
        of[which].push_back(median(run(me.ctx, kinds_samples(me, false, size, what, loops))));
      });
      const double ratio = median_ratio(of[1], of[0]);
      one.times.push_back(what.there_and_back() ? ratio : 1 / ratio);
    }
    all.push_back(one);
  }
  if (member.rank() != 0) return member.barrier();
  const std::optional<std::size_t> from = propose_streamed_from(all);
  const std::string setting =
      from ? fmt::format("WEFT_SHM_STORES=streaming:{}", *from) : "WEFT_SHM_STORES=ordinary";
  report out({{"size", "size"},
              {"there and back", "there_and_back"},
              {"1 in flight", "window_1"},
              {"4 in flight", "window_4"},
              {"16 in flight", "window_16"}},
             wanted.chosen.as_json);
  out.title(
      fmt::format("time with streaming stores in that with ordinary ones, read by the "
                  "receiver; {} rounds in turns",
                  wanted.rounds));
  for (const stores_ratios& one : all) {
    json line{{"bench", "kinds"}, {"measure", "proposal"}, {"size", one.size}};
    line["there_and_back"] = one.times[0];
    line["window_1"] = one.times[1];
    line["window_4"] = one.times[2];
    line["window_16"] = one.times[3];
    line["proposal"] = setting;
    out.add(line);
  }
  out.finish("set " + setting);
  member.barrier();
}

/// The one or the other comparison.
void compare_kinds(pair_member& member, const request& wanted) {
  wanted.proposes ? propose(member, wanted) : act(member, wanted);
}

}  // namespace

void add(CLI::App& app) {
  const auto wanted = std::make_shared<request>();
  wanted->chosen.progress = "polling";
  wanted->what = {.bench = "kinds",
                  .sizes = {kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib, 128 * kib,
                            256 * kib, mib, 4 * mib},
                  .window = 4};
  CLI::App& sub = add_ways_command(
      app, "Kinds of transfers: ordinary and streaming stores, an engine, single copies", wanted,
      compare_kinds, {.transport = false});
  sub.add_option("--window", wanted->what.window, "Messages in flight before an answer")
      ->check(CLI::PositiveNumber);
  sub.add_flag("--latency", wanted->latency, "One message there and back, in place of windows");
  sub.add_flag("--read", wanted->reads, "The receiver reads each message before it answers");
  sub.add_flag("--propose", wanted->proposes,
               "Streaming against ordinary stores in four ways, and the setting that follows");
  sub.add_flag("--cold", wanted->cold, "Buffers that fit into no cache");
  sub.add_option("--kinds", wanted->kinds, "Only these; the first one is the reference")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of_kinds()));
}

}  // namespace weft::bench::kinds_command
