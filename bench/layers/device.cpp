// SPDX-License-Identifier: Apache-2.0
// The bare RDMA device: reads beside writes, by one side alone (figure 15 of the paper on MPICH2
// over InfiniBand); and the ways by which the other side learns that it has a message (figure 4 of
// the report on the Chemnitz CH3 device). All take turns in the same two processes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "layers/bare_device.hpp"
#include "stage/report.hpp"
#include "stage/settings.hpp"
#include "stage/sides.hpp"
#include "support/clock.hpp"
#include "support/job.hpp"
#include "support/pattern.hpp"
#include "support/plan.hpp"

namespace weft::bench::device_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct request {
  settings chosen{.transport = "verbs", .progress = "polling"};
  std::vector<std::size_t> sizes{8, 256, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib};
  std::size_t window = 4;
  int rounds = 11;
  double effort = 1.0;
};

struct contestant {
  const char* name;
  device_work how;
};

/// One side posts and waits for the end of its work.
constexpr contestant one_sided[] = {{"write", device_work::write}, {"read", device_work::read}};

/// There and back: each side waits for the other's message.
constexpr contestant announced[] = {{"write, then send", device_work::write_and_send},
                                    {"write with immediate", device_work::write_immediate},
                                    {"send", device_work::send}};

/// One of two processes, in one measurement.
struct place_of_work {
  bare_device& end;
  pair_member& member;
  std::size_t size, window;
  std::uint64_t sequence = 0;  ///< of the last stamp
};

void alone(place_of_work& p, device_work how, std::size_t count) {
  for (std::size_t i = 0; i != count; ++i) {
    for (std::size_t k = 0; k != p.window; ++k) p.end.post(how, p.size);
    p.end.finish();
  }
}

void there_and_back(place_of_work& p, device_work how, std::size_t count) {
  const auto send = [&] {
    stamp(p.end.out(p.size), p.sequence);
    p.end.post(how, p.size);
  };
  for (std::size_t i = 0; i != count; ++i) {
    ++p.sequence;
    if (p.member.rank() == 0) send();
    p.end.receive();
    check_stamp(p.end.in(how, p.size), p.sequence);
    if (p.member.rank() == 1) send();
  }
  p.end.finish();
}

/// \return microseconds of a repetition, the median of the batches; 0 on the side that only waits
double measure_one(place_of_work& p, device_work how, bool by_one, plan loops) {
  stamp(p.end.out(p.size), ++p.sequence);
  p.member.barrier();
  std::vector<double> batches;
  if (!by_one || p.member.rank() == 0) {
    const auto go = by_one ? alone : there_and_back;
    go(p, how, loops.warm_up);
    for (std::size_t i = 0; i != loops.batches; ++i) {
      const auto start = now_ns();
      go(p, how, loops.per_batch);
      batches.push_back(us_between(start, now_ns()) / static_cast<double>(loops.per_batch));
    }
  }
  p.member.barrier();
  // The side where the bytes have come: the other one's stamp has the same number.
  if (by_one && p.member.rank() == (how == device_work::read ? 0 : 1))
    check_stamp(p.end.in(how, p.size), p.sequence);
  return batches.empty() ? 0 : median(std::move(batches));
}

struct memory_work {
  const char* name;
  void (bare_device::*run)(std::size_t size);
};

/// One side alone, without a message.
constexpr memory_work of_memory[] = {{"register", &bare_device::enroll_anew},
                                     {"copy", &bare_device::copy}};

/// \return microseconds of one, the median of the batches
double measure_memory(bare_device& end, const memory_work& what, std::size_t size, plan loops) {
  std::vector<double> batches;
  for (std::size_t i = 0; i != loops.batches; ++i) {
    const auto start = now_ns();
    for (std::size_t k = 0; k != loops.per_batch; ++k) (end.*what.run)(size);
    batches.push_back(us_between(start, now_ns()) / static_cast<double>(loops.per_batch));
  }
  return median(std::move(batches));
}

void act(pair_member& member, const request& wanted) {
  bare_device end(*std::max_element(wanted.sizes.begin(), wanted.sizes.end()));
  end.meet(member.exchange(end.card()));
  member.barrier();
  report out({{"size", "size"},
              {"work", "work"},
              {"in flight", "window"},
              {"MB/s", "mb_s"},
              {"µs until done", "us_per_call"},
              {"half round trip µs", "half_rtt_us"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"against the first", "ratio"}},
             wanted.chosen.as_json);
  const bool tells = member.rank() == 0;
  if (tells)
    out.title(fmt::format("the device alone; {} rounds in turns; ratio: median of the pairs",
                          wanted.rounds));
  const auto measure = [&](std::span<const contestant> all, std::size_t size, std::size_t window,
                           std::string_view metric) {
    if (tells) out.measuring(size_text(size));
    const bool by_one = all.data() == one_sided;
    const plan loops = plan{.warm_up = 2,
                            .batches = 5,
                            .per_batch = std::clamp<std::size_t>(mib / 4 / (size * window), 1, 40)}
                           .scaled(wanted.effort);
    std::vector<std::vector<double>> samples(all.size());
    place_of_work here{end, member, size, window};
    for (int round = 0; round != wanted.rounds; ++round)
      for (std::size_t turn = 0; turn != all.size(); ++turn) {
        // The order changes, so that no work always follows the same other one.
        const std::size_t which = (turn + static_cast<std::size_t>(round)) % all.size();
        const double us = measure_one(here, all[which].how, by_one, loops);
        samples[which].push_back(metric == mb_s ? static_cast<double>(size * window) / us
                                 : by_one       ? us
                                                : us / 2);
      }
    for (std::size_t i = 0; tells && i != all.size(); ++i) {
      auto line = make_line(head_of("device", wanted.chosen, size), metric, samples[i]);
      line["work"] = all[i].name;
      line["window"] = window;
      line["ratio"] = median(paired_ratios(samples[i], samples[0]));
      out.add(line);
    }
  };
  const auto measure_own_memory = [&](std::size_t size) {
    if (!tells) return;
    const plan loops = plan{.warm_up = 0, .batches = 5, .per_batch = 20}.scaled(wanted.effort);
    for (const memory_work& what : of_memory) {
      std::vector<double> samples;
      for (int round = 0; round != wanted.rounds; ++round)
        samples.push_back(measure_memory(end, what, size, loops));
      auto line = make_line(head_of("device", wanted.chosen, size), us_per_call, samples);
      line["work"] = what.name;
      out.add(line);
    }
  };
  for (const std::size_t size : wanted.sizes) measure_own_memory(size);
  member.barrier();
  for (const std::size_t size : wanted.sizes) measure(one_sided, size, wanted.window, mb_s);
  for (const std::size_t size : wanted.sizes) measure(one_sided, size, 1, us_per_call);
  for (const std::size_t size : wanted.sizes) measure(announced, size, 1, half_rtt_us);
  if (tells) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("device", "Reads, writes and sends of the bare RDMA device");
  add_sizes(*sub, wanted->sizes, "Messages")->check(CLI::Range(stamp_size, std::size_t{16} * mib));
  sub->add_option("--window", wanted->window, "Reads or writes in flight, for the bandwidth")
      ->check(CLI::Range(1, 64));
  sub->add_option("--rounds", wanted->rounds, "Turns of all works")->check(CLI::PositiveNumber);
  sub->add_option("--effort", wanted->effort, "Factor on the samples of each round")
      ->check(CLI::PositiveNumber);
  add_settings(*sub, wanted->chosen, {.transport = false, .progress = false});
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("device", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::device_command
