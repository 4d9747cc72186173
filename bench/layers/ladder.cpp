// SPDX-License-Identifier: Apache-2.0
// The ladder of the RDMA channel: latency and bandwidth of a channel of each rung, and of bare
// writes, in turns in the same two processes. By a device between registered memory, or over shared
// memory.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "ladder/loops.hpp"
#include "ladder/way.hpp"
#include "stage/ways.hpp"
#include "support/clock.hpp"
#include "support/plan.hpp"

namespace weft::bench::ladder_command {
namespace {

using rung = rdma_channel::rung;

constexpr std::size_t kib = 1024, mib = kib * kib;

struct request {
  settings chosen{.transport = "verbs", .progress = "polling"};
  std::vector<std::size_t> small{8, 256, 4 * kib},
      large{64, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib};
  std::vector<std::size_t> chunks{kib, 2 * kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib};
  std::size_t window = 4;
  int rounds = 11;
  double effort = 1.0;

  room of_each_way() const {
    std::size_t longest = stamp_size;
    for (const auto* sizes : {&small, &large})
      for (const std::size_t size : *sizes) longest = std::max(longest, size);
    return {.window = window, .longest = longest};
  }
};

/// The ways, and the way that each is compared with.
struct contestants {
  std::vector<std::unique_ptr<way>> all;
  std::vector<std::size_t> below;  ///< the rung below; itself: none
  std::size_t rungs;               ///< all others are chunk sizes

  explicit contestants(const request& wanted) {
    const auto add = [&](std::unique_ptr<way> w, std::size_t on) {
      all.push_back(std::move(w));
      below.push_back(on);
    };
    const room each = wanted.of_each_way();
    const std::size_t usual = rdma_channel::settings{}.chunk;
    // The usual chunk is measured among the rungs.
    std::vector<std::size_t> chunks = wanted.chunks;
    std::erase(chunks, usual);
    const auto channel = [&](const char* name, rung step, std::size_t chunk) {
      return by_channel(name, {.transport = wanted.chosen.transport, .step = step, .chunk = chunk},
                        each);
    };
    add(by_writes(wanted.chosen.transport, each), 0);
    add(channel("basic", rung::basic, usual), 1);
    add(channel("piggyback", rung::piggyback, usual), 1);
    add(channel("pipelined", rung::pipelined, usual), 2);
    add(channel("zero-copy, read", rung::read, usual), 3);
    add(channel("zero-copy, written", rung::written, usual), 3);
    rungs = all.size();
    for (const std::size_t chunk : chunks)
      add(channel("pipelined", rung::pipelined, chunk), all.size());
  }

  void meet(pair_member& member) {
    for (const auto& one : all) one->meet(member.exchange(one->card()));
    member.barrier();
  }
};

/// A repetition is a message there and back, or a window one way.
plan plan_of(std::size_t bytes, double effort) {
  return plan{
      .warm_up = 2, .batches = 5, .per_batch = std::clamp<std::size_t>(128 * kib / bytes, 1, 40)}
      .scaled(effort);
}

/// Half round trips in microseconds, or 10^6 bytes a second one way, for each batch.
std::vector<double> measure(way& w, const request& wanted, int rank, std::size_t size, bool one_way,
                            std::uint64_t& sequence) {
  const std::size_t bytes = size * (one_way ? wanted.window : 1);
  const plan loops = plan_of(bytes, wanted.effort);
  const auto go = [&](std::size_t count) {
    if (one_way)
      windows(w, rank, size, wanted.window, count, sequence);
    else
      round_trips(w, rank, size, count, sequence);
  };
  std::vector<double> batches;
  try {
    go(loops.warm_up);
    for (std::size_t i = 0; i != loops.batches; ++i) {
      const auto start = now_ns();
      go(loops.per_batch);
      const double us = us_between(start, now_ns()) / static_cast<double>(loops.per_batch);
      batches.push_back(one_way ? static_cast<double>(bytes) / us : us / 2);
    }
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("{}, {} bytes: {}", w.name(), size, e.what()));
  }
  return batches;
}

/// Of the ways from `first` to `last`, in turns.
medians_of_rounds measure(contestants& them, std::size_t first, std::size_t last,
                          const request& wanted, pair_member& member, std::size_t size,
                          bool one_way) {
  medians_of_rounds all(last - first);
  std::vector<std::uint64_t> sequence(last - first);
  in_turns(wanted.rounds, all.size(), [&](std::size_t which) {
    member.barrier();
    all[which].push_back(median(
        measure(*them.all[first + which], wanted, member.rank(), size, one_way, sequence[which])));
  });
  return all;
}

/// The factor by which `a` is better than `b`, as the median of the pairs.
double gain(const std::vector<double>& a, const std::vector<double>& b, bool more_is_better) {
  return more_is_better ? median_ratio(a, b) : median_ratio(b, a);
}

void act(pair_member& member, const request& wanted) {
  contestants them(wanted);
  them.meet(member);
  report out({{"size", "size"},
              {"step", "step"},
              {"chunk", "chunk"},
              {"half round trip µs", "half_rtt_us"},
              {"MB/s", "mb_s"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"of raw", "of_raw"},
              {"gain", "gain"}},
             wanted.chosen.as_json);
  const bool tells = member.rank() == 0;
  if (tells)
    out.title(
        fmt::format("{}; one way {} in flight; {} rounds in turns; of raw, and gain on "
                    "the rung below: medians of the pairs",
                    wanted.chosen.transport, wanted.window, wanted.rounds));
  const auto tell = [&](std::size_t size, bool one_way, std::size_t first,
                        const medians_of_rounds& samples) {
    for (std::size_t i = 0; tells && i != samples.size(); ++i) {
      const way& w = *them.all[first + i];
      auto line = make_line(head_of("ladder", wanted.chosen, size), one_way ? mb_s : half_rtt_us,
                            samples[i]);
      line["step"] = w.name();
      if (w.chunk() != 0) line["chunk"] = size_text(w.chunk());
      const std::size_t below = them.below[first + i];
      if (first == 0) line["of_raw"] = gain(samples[i], samples[0], one_way);
      if (below != first + i) line["gain"] = gain(samples[i], samples[below - first], one_way);
      out.add(line);
    }
  };
  for (const std::size_t size : wanted.small)
    tell(size, false, 0, measure(them, 0, them.rungs, wanted, member, size, false));
  for (const std::size_t size : wanted.large)
    tell(size, true, 0, measure(them, 0, them.rungs, wanted, member, size, true));
  for (const std::size_t size : wanted.large)
    if (them.all.size() != them.rungs)
      tell(size, true, them.rungs,
           measure(them, them.rungs, them.all.size(), wanted, member, size, true));
  if (tells) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("ladder", "The rungs of the RDMA channel against bare writes");
  const auto sizes = [&](const char* name, std::vector<std::size_t>& into, const char* about) {
    sub->add_option(name, into, about)
        ->delimiter(',')
        ->transform(CLI::AsSizeValue(false) & CLI::Range(stamp_size, std::size_t{16} * mib));
  };
  sizes("--size", wanted->small, "Bytes of a message, there and back");
  sizes("--large", wanted->large, "Bytes of a message, one way");
  sizes("--chunk", wanted->chunks, "Bytes of a chunk: every message one way, pipelined");
  sub->add_option("--window", wanted->window, "Messages in flight, one way")
      ->check(CLI::PositiveNumber);
  sub->add_option("--rounds", wanted->rounds, "Turns of all ways")->check(CLI::PositiveNumber);
  sub->add_option("--effort", wanted->effort, "Factor on the samples of each round")
      ->check(CLI::PositiveNumber);
  sub->add_option("--transport", wanted->chosen.transport,
                  "verbs: over a device; shm: over memory of both processes")
      ->check(CLI::IsMember({"verbs", "shm"}));
  add_settings(*sub, wanted->chosen, {.transport = false, .progress = false});
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("ladder", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::ladder_command
