// SPDX-License-Identifier: Apache-2.0
// Compares the payload schemes of a rendezvous over qdma: frames, read by the receiver or written
// by the sender, with and without eager data; and the ways to report the end of a copy: to the peer
// by a chained frame or by one that the protocol sends, and to this side at once, by the queue of
// incoming messages, or by a second queue. Figures 7 and 8 of the paper on Open MPI over Elan4.
// Both processes have a context for each way, and these take turns, so that drift of the machine
// affects all.
#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/ways.hpp"

namespace weft::bench::rdma_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct contestant {
  const char* rest;
  rendezvous_scheme way;
  rendezvous_eager_data inlined;
  const char* fin = "apart";
  chained_fin chained = chained_fin::no;
  const char* ends = "direct";
  copy_completion reported = copy_completion::direct;
};

/// Frames first, the reference of the others; then, for get and for put, all options.
std::vector<contestant> contestants() {
  std::vector<contestant> all{
      {"frames, inlined", rendezvous_scheme::frames, rendezvous_eager_data::yes}};
  const auto add_ends = [&all](contestant c) {
    for (const auto& [ends, reported] : {std::pair{"direct", copy_completion::direct},
                                         {"one queue", copy_completion::one_queue},
                                         {"two queues", copy_completion::two_queues}}) {
      c.ends = ends;
      c.reported = reported;
      c.fin = "apart";
      c.chained = chained_fin::no;
      all.push_back(c);
      c.fin = "chained";
      c.chained = chained_fin::yes;
      all.push_back(c);
    }
  };
  using enum rendezvous_scheme;
  add_ends({"get, inlined", get, rendezvous_eager_data::yes});
  add_ends({"get", get, rendezvous_eager_data::no});
  add_ends({"put, inlined", put, rendezvous_eager_data::yes});
  add_ends({"put", put, rendezvous_eager_data::no});
  return all;
}

options with(const settings& chosen, const contestant& c) {
  options result = options_of(chosen);
  result.experimental.rendezvous = c.way;
  result.experimental.eager_data = c.inlined;
  result.experimental.chained = c.chained;
  result.experimental.qdma_copy_completion = c.reported;
  // As in the paper: a message that does not fit in a slot is a rendezvous.
  result.eager_limit = kib;
  return result;
}

void act(pair_member& member, const ways_request& wanted) {
  std::deque<place> places;
  const std::vector<contestant> all = contestants();
  for (const contestant& c : all) places.emplace_back(with(wanted.chosen, c)).meet(member);
  compare(member, wanted, fmt::format("{}, eager up to 1 KiB", wanted.chosen.transport),
          {{"size", "size"},
           {"rest", "rest"},
           {"fin", "fin"},
           {"ends", "ends"},
           {"half round trip µs", "half_rtt_us"},
           {"p10", "p10"},
           {"p90", "p90"},
           {"against frames", "ratio"},
           {"against apart", "to_apart"}},
          {.count = all.size(),
           .measure =
               [&](std::size_t way, std::size_t size) {
                 const side me = side_at(places[way], member);
                 const plan loops{
                     .warm_up = 5, .batches = 5, .per_batch = std::size_t{size >= mib ? 4u : 40u}};
                 return run(me.ctx, half_round_trips(me, size, loops.scaled(wanted.what.effort)));
               },
           .line =
               [&](std::size_t way, std::size_t size, const medians_of_rounds& us) {
                 json line = make_line(head_of("rdma", wanted.chosen, size), half_rtt_us, us[way]);
                 line["rest"] = all[way].rest;
                 line["fin"] = all[way].fin;
                 line["ends"] = all[way].ends;
                 line["ratio"] = median_ratio(us[way], us[0]);
                 // Of two ways that differ only in the frame: the effect of chaining it.
                 if (all[way].chained == chained_fin::yes)
                   line["to_apart"] = median_ratio(us[way], us[way - 1]);
                 return line;
               }});
}

}  // namespace

void add(CLI::App& app) {
  add_ways_command(app, "Long messages by frames, by reading and by writing",
                   std::make_shared<ways_request>(
                       ways_request{.chosen = {.transport = "qdma"},
                                    .what = {.bench = "rdma",
                                             .sizes = {0, 4, 64, kib, 2 * kib, 4 * kib, 16 * kib,
                                                       64 * kib, 256 * kib, mib, 4 * mib}}}),
                   act);
}

}  // namespace weft::bench::rdma_command
