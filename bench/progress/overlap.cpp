// SPDX-License-Identifier: Apache-2.0
// Measures whether a message moves while the application computes. README.md describes the four
// patterns. A wait counts from the moment when both sides had posted.
#include "output/overlap_line.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "progress/peer_clock.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "support/clock.hpp"
#include "support/compute.hpp"

namespace weft::bench::overlap_command {
namespace {

constexpr std::size_t kib = 1024;

struct request {
  settings chosen;
  job what{.bench = "overlap", .sizes = {8, 64 * kib, kib* kib, 8 * kib* kib}};
};

/// The buffers of one side: a message and a place for one.
struct desk {
  const side& me;
  std::span<const std::byte> message;
  std::span<std::byte> box;
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

template <class T>
std::span<std::byte> writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// The value of process 0, on both.
template <class T>
task<T> from_process_0(const side& me, T value) {
  if (me.rank == 0)
    co_await me.peer.send(bytes_of(value), ack_tag);
  else
    co_await me.peer.recv(writable_bytes_of(value), ack_tag);
  co_return value;
}

enum class blocked { receiver, sender };

/// One repetition of a pattern in which one side computes and the other is blocked: the wait of the
/// blocked side, counted from when both had begun; zero on the computing side.
task<double> wait_once(const desk& at, blocked who, double compute_us) {
  const side& me = at.me;
  const int computing_rank = who == blocked::receiver ? 0 : 1;
  const bool computes = me.rank == computing_rank;
  std::int64_t ahead = 0;
  if (computes)
    co_await show_clock(me);
  else
    ahead = co_await ask_clock(me);
  co_await barrier(me);
  std::int64_t posted = 0;
  if (computes) {
    posted = now_ns();
    scope fly;
    if (who == blocked::receiver)
      fly.start(me.peer.send(at.message, data_tag));
    else
      fly.start(me.peer.recv(at.box, data_tag));
    compute_for_us(compute_us);
    co_await fly.join();
    co_await me.peer.send(bytes_of(posted), ack_tag);
    co_return 0;
  }
  const auto start = now_ns();
  if (who == blocked::receiver)
    co_await me.peer.recv(at.box, data_tag);
  else
    co_await me.peer.send_synchronous(at.message, data_tag);
  const auto end = now_ns();
  co_await me.peer.recv(writable_bytes_of(posted), ack_tag);
  co_return us_between(std::max(start, posted - ahead), end);
}

task<std::vector<double>> waits(const desk& at, blocked who, double compute_us,
                                std::size_t repetitions) {
  for (std::size_t i = 0; i < overlap_warm_up; ++i) co_await wait_once(at, who, 0);
  std::vector<double> samples;
  for (std::size_t i = 0; i < repetitions; ++i)
    samples.push_back(co_await wait_once(at, who, compute_us));
  // In both patterns process 0 reports; the receiver is process 1.
  if (who == blocked::sender) co_return samples;
  const auto bytes = std::as_writable_bytes(std::span(samples));
  if (at.me.rank == 1)
    co_await at.me.peer.send(bytes, ack_tag);
  else
    co_await at.me.peer.recv(bytes, ack_tag);
  co_return samples;
}

task<json> one_sided(const desk& at, const job& what, const line_head& head,
                     const std::string& pattern) {
  const auto who = pattern == "receiver_blocked" ? blocked::receiver : blocked::sender;
  const auto repetitions = overlap_repetitions(what.effort);
  overlap_samples samples;
  samples.transfer_us = co_await waits(at, who, 0, repetitions);
  samples.wait_us = co_await waits(at, who, what.compute_us, repetitions);
  co_return overlap_line(head, pattern, what.compute_us, samples);
}

/// Posts a receive and a send, computes, waits; the result is the time in the wait.
task<double> exchange(const desk& at, scope& fly, std::uint64_t units) {
  fly.start(at.me.peer.recv(at.box, data_tag));
  fly.start(at.me.peer.send(at.message, data_tag));
  compute_units(units);
  const auto computed = now_ns();
  co_await fly.join();
  co_return us_between(computed, now_ns());
}

task<std::uint64_t> agreed_units(const side& me, double us) {
  return from_process_0(me, static_cast<std::uint64_t>(us * units_per_us()));
}

task<json> both_compute(const desk& at, const job& what, const line_head& head) {
  const auto units = co_await agreed_units(at.me, what.compute_us);
  overlap_samples result;
  scope fly;
  for (const bool computing : {false, true}) {
    for (std::size_t i = 0; i < overlap_warm_up + overlap_repetitions(what.effort); ++i) {
      co_await barrier(at.me);
      const double wait = co_await exchange(at, fly, computing ? units : 0);
      if (i >= overlap_warm_up) (computing ? result.wait_us : result.transfer_us).push_back(wait);
    }
  }
  co_return overlap_line(head, "both_compute", what.compute_us, result);
}

/// A step of the application, `slow_down_steps` times in a sample: post, compute a fifth of
/// compute_us, wait. It measures steps with messages, without messages, and with messages but
/// without computation separately.
task<json> slow_down(const desk& at, const job& what, const line_head& head) {
  const auto units = co_await agreed_units(at.me, what.compute_us / slow_down_steps);
  slow_down_samples result;
  scope fly;
  for (std::size_t i = 0; i < overlap_warm_up + overlap_repetitions(what.effort); ++i) {
    double us[3];
    co_await barrier(at.me);
    auto start = now_ns();
    for (int step = 0; step < slow_down_steps; ++step) compute_units(units);
    us[0] = us_between(start, now_ns()) / slow_down_steps;
    for (const std::size_t kind : {std::size_t{1}, std::size_t{2}}) {
      co_await barrier(at.me);
      start = now_ns();
      for (int step = 0; step < slow_down_steps; ++step)
        co_await exchange(at, fly, kind == 1 ? units : 0);
      us[kind] = us_between(start, now_ns()) / slow_down_steps;
    }
    if (i < overlap_warm_up) continue;
    result.alone_us.push_back(us[0]);
    result.with_messages_us.push_back(us[1]);
    result.only_messages_us.push_back(us[2]);
  }
  co_return slow_down_line(head, result);
}

task<json> overlap(const side& me, const std::string& pattern, const job& what,
                   const line_head& head) {
  heap_buffers out(1, head.size);
  heap_buffers in(1, head.size);
  fill(out[0], 1);
  stamp(out[0], 1);
  const desk at{me, out[0], in[0]};
  const bool both_receive = pattern == "slow_down" || pattern == "both_compute";
  json line;
  if (pattern == "slow_down")
    line = co_await slow_down(at, what, head);
  else if (pattern == "both_compute")
    line = co_await both_compute(at, what, head);
  else
    line = co_await one_sided(at, what, head, pattern);
  if (both_receive || me.rank == 1) {
    check_stamp(at.box, 1);
    verify(at.box, 1);
  }
  co_return line;
}

task<void> act(side& me, const request& wanted) {
  const job& what = wanted.what;
  report out({{"size", "size"},
              {"transfer µs", "transfer_us"},
              {"wait µs", "wait_us"},
              {"excess µs", "excess_us"},
              {"only messages µs", "only_messages_us"},
              {"step µs", "with_messages_us"},
              {"beyond copy", "beyond_copy"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"pattern", "pattern"}},
             wanted.chosen.as_json);
  const bool tells = me.rank == 0;
  co_await barrier(me);  // so that both are connected, and the transport is known
  if (tells) out.title(me.peer.describe());
  for (const auto& pattern : overlap_patterns) {
    if (what.pattern != "all" && what.pattern != pattern) continue;
    for (const auto size : what.sizes) {
      if (tells) out.measuring(pattern + ", " + size_text(size));
      const json line =
          co_await overlap(me, pattern, what, head_of(what.bench, wanted.chosen, size));
      if (tells) out.add(line);
    }
  }
  if (tells) out.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub =
      app.add_subcommand("overlap", "How long somebody waits while the application computes");
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_stage("overlap", wanted->chosen, wanted->what.hosts,
             [&](side& me) { return act(me, *wanted); });
  });
}

}  // namespace weft::bench::overlap_command
