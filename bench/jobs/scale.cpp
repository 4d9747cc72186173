// SPDX-License-Identifier: Apache-2.0
// The cost of connected but idle peers: time of an 8-byte half round trip, and memory. Both
// processes have two contexts, one of them with the crowd, and the two take turns, so that drift of
// the machine affects both.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "jobs/crowd.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "support/pair.hpp"
#include "support/process_memory.hpp"

namespace weft::bench::scale_command {
namespace {

constexpr std::size_t message = 8;

struct request {
  settings chosen;
  std::size_t peers = 256;
  int rounds = 31;
};

/// One context and its peer in the other process.
struct open_place {
  context ctx;
  listener listening;  ///< on process 0, and for the crowd on both
  endpoint peer = {};

  open_place(const settings& chosen, const std::string& address)
      : ctx(options_of(chosen)), listening(run(ctx, ctx.listen(address))) {}
};

/// Addresses of contexts, the same in both processes: of a process, with or without the crowd.
std::string address_of(pid_t stage, int rank, bool crowded) {
  return fmt::format("unix://weft-bench-{}-{}-{}", stage, rank, crowded ? "crowded" : "alone");
}

task<std::vector<endpoint>> let_in(listener& listening, std::size_t count) {
  std::vector<endpoint> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(co_await listening.accept());
  co_return all;
}

task<void> answer(const std::vector<endpoint>& all) {
  std::array<std::byte, message> word{};
  for (const endpoint& peer : all) {
    co_await peer.recv(word, data_tag);
    co_await peer.send(word, data_tag);
  }
}

struct growth {
  process_memory connected;  ///< for each peer, KiB
  process_memory active;     ///< the same after a message each way
};

/// Connects the crowd and reports its cost.
growth fill_up(open_place& at, crowd& many, std::vector<endpoint>& guests,
               const std::string& address, const request& wanted) {
  const auto each = [&](const process_memory& before, const process_memory& after) {
    const auto n = static_cast<double>(wanted.peers);
    return process_memory{(after.rss - before.rss) / n, (after.pss - before.pss) / n};
  };
  const auto before = process_memory::now();
  many.connect(address);
  guests = run(at.ctx, let_in(at.listening, wanted.peers));
  many.wait();
  const auto connected = process_memory::now();
  many.greet();
  run(at.ctx, answer(guests));
  many.wait();
  return {each(before, connected), each(before, process_memory::now())};
}

void tell(const request& wanted, const growth& grown, const std::vector<double>& alone,
          const std::vector<double>& crowded) {
  report out({{"idle peers", "idle_peers"},
              {"half round trip µs", "half_rtt_us"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"ratio", "ratio"},
              {"KiB a connected peer", "rss_kib_per_connected_peer"},
              {"KiB an active peer", "rss_kib_per_active_peer"}},
             wanted.chosen.as_json);
  const auto head = head_of("scale", wanted.chosen, message);
  auto line = make_line(head, half_rtt_us, alone);
  line["idle_peers"] = 0;
  out.add(line);
  line = make_line(head, half_rtt_us, crowded);
  line["idle_peers"] = wanted.peers;
  line["ratio"] = median_ratio(crowded, alone);
  line["rss_kib_per_connected_peer"] = grown.connected.rss;
  line["rss_kib_per_active_peer"] = grown.active.rss;
  line["pss_kib_per_connected_peer"] = grown.connected.pss;
  line["pss_kib_per_active_peer"] = grown.active.pss;
  out.add(line);
  out.finish();
}

void act(forked_member& member, pid_t stage, const request& wanted) {
  const int rank = member.rank();
  allow_many_files();
  // The crowd shares the core of its process, and is asleep during the measurements.
  settings silent = wanted.chosen;
  silent.progress = "interrupt";
  crowd many(wanted.peers, silent);

  const auto crowded_address = address_of(stage, rank, true);
  open_place alone(wanted.chosen, address_of(stage, rank, false));
  open_place crowded(wanted.chosen, crowded_address);
  member.barrier();
  for (open_place* at : {&alone, &crowded})
    at->peer = rank == 0 ? run(at->ctx, at->listening.accept())
                         : run(at->ctx, at->ctx.connect(address_of(stage, 0, at == &crowded)));
  std::vector<endpoint> guests;
  const growth grown = fill_up(crowded, many, guests, crowded_address, wanted);
  member.barrier();

  constexpr plan loops{.warm_up = 500, .batches = 5, .per_batch = 2000};
  std::array<std::vector<double>, 2> samples;
  for (int round = 0; round < wanted.rounds; ++round)
    for (std::size_t which = 0; which < 2; ++which) {
      open_place& at = which == 0 ? alone : crowded;
      const side me{at.ctx, at.peer, rank};
      const auto one = run(at.ctx, half_round_trips(me, message, loops));
      if (rank == 0) samples[which].push_back(median(one));
      member.barrier();
    }
  if (rank == 0) tell(wanted, grown, samples[0], samples[1]);
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("scale", "What connected but idle peers cost");
  sub->add_option("--peers", wanted->peers, "How many of them, at each of the two processes")
      ->check(CLI::PositiveNumber);
  sub->add_option("--rounds", wanted->rounds, "Turns of with and without")
      ->check(CLI::PositiveNumber);
  add_settings(*sub, wanted->chosen);
  sub->callback([wanted] {
    const pair_options stage{
        .name = "scale", .time_limit = std::chrono::minutes(10), .pin = wanted->chosen.pin};
    run_pair(stage, [&, self = ::getpid()](forked_member& member) { act(member, self, *wanted); });
  });
}

}  // namespace weft::bench::scale_command
