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
#include <vector>

#include "api/core.hpp"
#include "commands.hpp"
#include "loops.hpp"
#include "report.hpp"
#include "support/clock.hpp"

namespace weft::bench::eager_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct request {
  settings chosen{.progress = "polling"};  // as MPICH2 does
  job what{.bench = "eager",
           .sizes = {4, kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib, 128 * kib, 256 * kib,
                     512 * kib, mib, 4 * mib}};
  int rounds = 11;
};

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

/// A context of one contestant, on this machine.
struct entrant : place {
  entrant(const settings& chosen, const contestant& c) : place(with(chosen, c)), what(c) {}
  /// Whether the machine has the transport; only verbs needs a device.
  bool can_run() const { return std::string_view(what.transport) != "verbs" || ctx.core().verbs(); }

  const contestant& what;
  std::vector<double> us;  // of an exchange, one for each round
};

task<void> exchanges(const side& me, std::span<std::byte> out, std::span<std::byte> in,
                     std::size_t count, std::uint64_t& n) {
  scope both;
  for (std::size_t i = 0; i != count; ++i, ++n) {
    stamp(out, n);
    received got;
    both.start(me.peer.recv(in, data_tag), [&got](const received& r) { got = r; });
    both.start(me.peer.send(out, data_tag));
    co_await both.join();
    check_length(got, in.size());
    check_stamp(in, n);
  }
}

/// \return microseconds of an exchange, for each batch
task<std::vector<double>> measure(side me, std::size_t size, plan loops) {
  heap_buffers buffers(2, size);
  fill_all(buffers);
  const auto out = buffers[0], in = buffers[1];
  std::uint64_t n = 0;
  co_await barrier(me);
  co_await exchanges(me, out, in, loops.warm_up, n);
  std::vector<double> samples;
  for (std::size_t batch = 0; batch != loops.batches; ++batch) {
    const auto start = now_ns();
    co_await exchanges(me, out, in, loops.per_batch, n);
    samples.push_back(us_between(start, now_ns()) / static_cast<double>(loops.per_batch));
  }
  verify(in, 1);
  co_return samples;
}

void tell(report& out, const request& wanted, std::size_t size, const std::deque<entrant>& all) {
  for (const entrant& one : all) {
    std::vector<double> both_ways;
    for (const double us : one.us) both_ways.push_back(2 * static_cast<double>(size) / us);
    settings named = wanted.chosen;
    named.transport = one.what.transport;
    auto line = make_line(head_of("eager", named, size), mb_s, both_ways);
    line["eager_limit"] = one.what.limit;
    line["us"] = median(one.us);
    line["to_constant"] = median(paired_ratios(all[constant].us, one.us));
    line["to_own"] = median(paired_ratios(all[own].us, one.us));
    out.add(line);
  }
}

void act(pair_member& member, const request& wanted) {
  std::deque<entrant> all;
  for (const contestant& c : contestants) {
    all.emplace_back(wanted.chosen, c);
    if (!all.back().can_run()) {
      all.pop_back();
      continue;
    }
    all.back().meet(member);
  }
  report out({{"size", "size"},
              {"transport", "transport"},
              {"eager up to", "eager_limit"},
              {"MB/s both ways", "mb_s"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"µs an exchange", "us"},
              {"to shm, 8k", "to_constant"},
              {"to shm, auto", "to_own"}},
             wanted.chosen.as_json);
  const bool tells = member.rank() == 0;
  if (tells)
    out.title(
        fmt::format("both send and receive at once; {} rounds in turns; ratios of bandwidth: "
                    "medians of the pairs",
                    wanted.rounds));
  for (const std::size_t size : wanted.what.sizes) {
    if (tells) out.measuring(size_text(size));
    for (entrant& one : all) one.us.clear();
    const plan loops = plan{.warm_up = 4,
                            .batches = 5,
                            .per_batch = std::clamp<std::size_t>(2 * mib / (size + 1), 4, 40)}
                           .scaled(wanted.what.effort);
    for (int round = 0; round < wanted.rounds; ++round)
      for (std::size_t turn = 0; turn != all.size(); ++turn) {
        // The order changes, so that none always follows the same other one.
        entrant& at = all[(turn + static_cast<std::size_t>(round)) % all.size()];
        at.us.push_back(
            median(run(at.ctx, measure({at.ctx, at.peer, member.rank()}, size, loops))));
        member.barrier();
      }
    if (tells) tell(out, wanted, size, all);
  }
  if (tells) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand(
      "eager", "Limits of eager messages, over shared memory and over other transports");
  sub->add_option("--rounds", wanted->rounds, "Turns of all limits")->check(CLI::PositiveNumber);
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen, {.transport = false});
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("eager", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::eager_command
