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
#include "loops.hpp"
#include "report.hpp"

namespace weft::bench::rdma_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct request {
  settings chosen{.transport = "qdma"};
  job what{.bench = "rdma",
           .sizes = {0, 4, 64, kib, 2 * kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib, 4 * mib}};
  int rounds = 11;
};

struct contestant {
  const char* rest;
  rendezvous_scheme way;
  rendezvous_eager_data inlined;
  const char* fin = "apart";
  chained_fin chained = chained_fin::no;
  const char* ends = "direct";
  copy_completion told = copy_completion::direct;
};

/// Frames first, the reference of the others; then, for get and for put, all options.
std::vector<contestant> contestants() {
  std::vector<contestant> all{
      {"frames, inlined", rendezvous_scheme::frames, rendezvous_eager_data::yes}};
  const auto add_ends = [&all](contestant c) {
    for (const auto& [ends, told] : {std::pair{"direct", copy_completion::direct},
                                     {"one queue", copy_completion::one_queue},
                                     {"two queues", copy_completion::two_queues}}) {
      c.ends = ends;
      c.told = told;
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
  result.experimental.qdma_copy_completion = c.told;
  // As in the paper: a message that does not fit in a slot is a rendezvous.
  result.eager_limit = kib;
  return result;
}

void act(pair_member& member, const request& wanted) {
  std::deque<place> places;
  const std::vector<contestant> all = contestants();
  for (const contestant& c : all) places.emplace_back(with(wanted.chosen, c)).meet(member);
  report out({{"size", "size"},
              {"rest", "rest"},
              {"fin", "fin"},
              {"ends", "ends"},
              {"half round trip µs", "half_rtt_us"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"against frames", "ratio"},
              {"against apart", "to_apart"}},
             wanted.chosen.as_json);
  if (member.rank() == 0)
    out.title(fmt::format("{}; eager up to 1 KiB; {} rounds in turns; ratio: median of the pairs",
                          wanted.chosen.transport, wanted.rounds));
  for (const std::size_t size : wanted.what.sizes) {
    std::vector<std::vector<double>> samples(places.size());
    const plan loops{
        .warm_up = 5, .batches = 5, .per_batch = size >= mib ? std::size_t{4} : std::size_t{40}};
    for (int round = 0; round < wanted.rounds; ++round)
      for (std::size_t turn = 0; turn != places.size(); ++turn) {
        // The order changes, so that no way always follows the same other one.
        const std::size_t which = (turn + static_cast<std::size_t>(round)) % places.size();
        place& at = places[which];
        const auto half_rtt = run(at.ctx, half_round_trips({at.ctx, at.peer, member.rank()}, size,
                                                           loops.scaled(wanted.what.effort)));
        if (member.rank() == 0) samples[which].push_back(median(half_rtt));
        member.barrier();
      }
    if (member.rank() != 0) continue;
    for (std::size_t i = 0; i != places.size(); ++i) {
      auto line = make_line(head_of("rdma", wanted.chosen, size), half_rtt_us, samples[i]);
      line["rest"] = all[i].rest;
      line["fin"] = all[i].fin;
      line["ends"] = all[i].ends;
      line["ratio"] = median(paired_ratios(samples[i], samples[0]));
      // Of two ways that differ only in the frame: the effect of chaining it.
      if (all[i].chained == chained_fin::yes)
        line["to_apart"] = median(paired_ratios(samples[i], samples[i - 1]));
      out.add(line);
    }
  }
  if (member.rank() == 0) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("rdma", "Long messages by frames, by reading and by writing");
  sub->add_option("--rounds", wanted->rounds, "Turns of all ways")->check(CLI::PositiveNumber);
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("rdma", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::rdma_command
