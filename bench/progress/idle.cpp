// SPDX-License-Identifier: Apache-2.0
// The cost of an idle context: the CPU time of all threads of the process while a peer is connected
// and silent; and the latency of the first message afterwards.
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "support/clock.hpp"

namespace weft::bench::idle_command {
namespace {

struct request {
  settings chosen;
  double seconds = 2;
  int repetitions = 3;
  bool apart = false;
};

/// Microseconds that all threads of this process have spent on a core.
double cpu_us() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto us = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return us(used.ru_utime) + us(used.ru_stime);
}

/// Percent of a core between the construction of this object and the call.
class cpu_meter {
 public:
  double percent() const { return 100 * (cpu_us() - cpu_) / us_between(start_, now_ns()); }

 private:
  double cpu_ = cpu_us();
  std::int64_t start_ = now_ns();
};

struct idle_samples {
  std::vector<double> connected;  ///< process 0: a connected context, the application sleeps
  std::vector<double> receiving;  ///< process 1: a posted receive, the application waits for it
  std::vector<double> half_rtt;   ///< of the first message after the silence
};

task<idle_samples> silence(const side& me, const request& wanted) {
  idle_samples samples;
  double value = 0;
  const auto word = std::as_writable_bytes(std::span(&value, 1));
  for (int i = 0; i < wanted.repetitions; ++i) {
    co_await barrier(me);
    if (me.rank == 1) {
      const cpu_meter meter;
      co_await me.peer.recv(word, data_tag);
      const double percent = meter.percent();
      co_await me.peer.send(word, data_tag);
      value = percent;
      co_await me.peer.send(word, ack_tag);
      continue;
    }
    const cpu_meter meter;
    std::this_thread::sleep_for(std::chrono::duration<double>(wanted.seconds));
    samples.connected.push_back(meter.percent());
    const auto start = now_ns();
    co_await me.peer.send(word, data_tag);
    co_await me.peer.recv(word, data_tag);
    samples.half_rtt.push_back(us_between(start, now_ns()) / 2);
    co_await me.peer.recv(word, ack_tag);
    samples.receiving.push_back(value);
  }
  co_return samples;
}

task<void> act(side& me, const request& wanted) {
  report out({{"state", "state"},
              {"% of a core", "cpu_percent"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"first half round trip µs", "half_rtt_us"}},
             wanted.chosen.as_json);
  const bool tells = me.rank == 0;
  co_await barrier(me);  // so that both are connected, and the transport is known
  if (tells) out.title(me.peer.describe());
  const auto samples = co_await silence(me, wanted);
  if (!tells) co_return;
  for (const auto* of : {&samples.connected, &samples.receiving}) {
    auto line = make_line(head_of("idle", wanted.chosen, sizeof(double)), "cpu_percent", *of);
    line["state"] = of == &samples.connected ? "connected" : "receiving";
    line["seconds"] = wanted.seconds;
    line[std::string(half_rtt_us)] = median(samples.half_rtt);
    out.add(line);
  }
  out.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("idle", "The CPU time of a context that has nothing to do");
  sub->add_option("--seconds", wanted->seconds, "How long it has nothing to do, each time")
      ->check(CLI::PositiveNumber);
  sub->add_option("--repetitions", wanted->repetitions, "How often")->check(CLI::PositiveNumber);
  add_settings(*sub, wanted->chosen);
  add_hosts_option(*sub, wanted->apart);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_stage("idle", wanted->chosen, wanted->apart, [&](side& me) { return act(me, *wanted); });
  });
}

}  // namespace weft::bench::idle_command
