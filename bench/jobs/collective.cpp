// SPDX-License-Identifier: Apache-2.0
// Collective calls of a group, plain and while the application computes: weft's part of
// `collectives`, which compares.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "commands.hpp"
#include "stage/ranks.hpp"
#include "stage/report.hpp"
#include "support/affinity.hpp"
#include "support/collective_batches.hpp"
#include "support/collective_work.hpp"
#include "support/compute.hpp"

namespace weft::bench::collective_command {
namespace {

struct request {
  settings chosen;
  job what{.bench = "collective", .sizes = {8, 4096, 65536, 1 << 20}, .ranks = 4};
  std::size_t cores = 0;  ///< of all ranks
};

/// The call of number `n`; `w` lives until it ends.
task<void> call(const group& world, collective_work& w, std::uint64_t n) {
  switch (w.which()) {
    case collective_call::barrier:
      break;
    case collective_call::broadcast:
      return world.broadcast(w.data(), static_cast<peer_id>(w.root(n)));
    case collective_call::all_reduce:
      return world.all_reduce(w.words());
    case collective_call::all_to_all:
      return world.all_to_all(w.out(), w.in());
  }
  return world.barrier();
}

struct loop {
  context& ctx;
  const group& world;
  collective_work& work;
  std::uint64_t units;  ///< of computation during each call; 0: none
  std::size_t calls;
  std::uint64_t n = 0;
};

task<void> batch(loop& l) {
  scope fly;
  for (std::size_t i = 0; i != l.calls; ++i, ++l.n) {
    l.work.prepare(l.n);
    if (l.units == 0) {
      co_await call(l.world, l.work, l.n);
    } else {
      fly.start(call(l.world, l.work, l.n));
      compute_units(l.units);
      co_await fly.join();
    }
    l.work.check(l.n);
  }
}

/// The computations of a batch alone, of all ranks: they may share cores.
task<double> alone(const loop& l) {
  co_await l.world.barrier();
  const auto start = now_ns();
  for (std::size_t i = 0; i != l.calls; ++i) compute_units(l.units);
  co_await l.world.barrier();
  co_return us_between(start, now_ns());
}

/// Each rank counts itself at rank 0 before it enters a barrier, the last one late; when a rank has
/// left it, all are counted.
task<void> verify_barrier(const loop& l) {
  const group& world = l.world;
  std::uint64_t counted = 0;
  const region here(l.ctx, std::as_writable_bytes(std::span(&counted, 1)), rights::read_write);
  remote_region count = here.remote();
  co_await world.broadcast(count);
  const endpoint root = world[0];
  if (world.rank() == world.size() - 1) compute_for_us(200);
  co_await root.fetch_add(count, 1);
  co_await world.barrier();
  const std::uint64_t seen = co_await root.fetch_add(count, 0);
  co_await world.barrier();  // the region outlives every access
  if (seen != world.size())
    throw std::runtime_error("a rank left the barrier before the last one had come");
}

task<void> verify(loop& l) {
  if (l.work.which() == collective_call::barrier) co_return co_await verify_barrier(l);
  l.work.prepare_all(l.n);
  co_await call(l.world, l.work, l.n);
  l.work.check_all(l.n);
}

task<collective_batches> measure(loop& l, double effort) {
  collective_batches measured(l.calls, effort);
  for (std::uint32_t more = 1; more != 0;) {
    double alone_us = 0;
    if (l.units != 0) alone_us = co_await alone(l);
    co_await l.world.barrier();
    const auto start = now_ns();
    co_await batch(l);
    if (l.units != 0) co_await l.world.barrier();  // as in `alone`
    more = measured.add(us_between(start, now_ns()), alone_us) ? 1 : 0;
    co_await l.world.broadcast(more);  // rank 0's clock decides for all
  }
  co_await verify(l);
  co_return measured;
}

task<void> act(context& ctx, const request& wanted) {
  const group world = ctx.world();
  const bool tells = world.rank() == 0;
  const job& what = wanted.what;
  report out(with_percentiles({{"pattern", "pattern"},
                               {"size", "size"},
                               {"µs a call", std::string(us_per_call)},
                               {"computing", "compute_us"},
                               {"beyond", std::string(beyond_us)}}),
             wanted.chosen.as_json);
  if (tells)
    out.title(
        fmt::format("{} of {} ranks over {}", what.call, world.size(), wanted.chosen.transport));
  const double units = units_per_us();
  bool crowded = world.size() > wanted.cores;
  co_await world.broadcast(crowded);  // the same number of calls on all ranks
  for (const auto& pattern : patterns_of(what))
    for (const auto size : sizes_of(what)) {
      if (tells) out.measuring(fmt::format("{} {}", pattern, size_text(size)));
      const double compute_us = computation_us(size, pattern);
      collective_work work(call_named(what.call), size, static_cast<int>(world.rank()),
                           static_cast<int>(world.size()));
      loop l{ctx, world, work, static_cast<std::uint64_t>(compute_us * units),
             calls_in_batch(size, compute_us, crowded)};
      const auto measured = co_await measure(l, what.effort);
      if (!tells) continue;
      auto line =
          collective_line(head_of("collective", wanted.chosen, size), what, pattern, measured);
      line["ranks"] = world.size();
      out.add(line);
    }
  co_await world.barrier();
  if (tells) out.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("collective", "A collective call of weft, also while computing");
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  sub->callback([wanted] {
    wanted->cores = allowed_cores().size();  // before a rank has its own
    on_ranks(wanted->chosen, {.counts = {wanted->what.ranks}},
             [&](context& ctx) { return act(ctx, *wanted); });
  });
}

}  // namespace weft::bench::collective_command
