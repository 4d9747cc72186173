// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands.hpp"
#include "messages/c_interface.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"

namespace weft::bench::latency_command {
namespace {

constexpr std::size_t kib = 1024;

struct request {
  settings chosen;
  job what{.bench = "latency",
           .sizes = {0, 8, 64, 256, kib, 4 * kib, 8 * kib, 16 * kib, 64 * kib, 256 * kib, kib* kib,
                     4 * kib* kib}};
  bool in_c = false;
};

report table_of(const request& wanted) {
  return report(with_percentiles({{"size", "size"}, {"half round trip µs", "half_rtt_us"}}),
                wanted.chosen.as_json);
}

task<void> act(side& me, const request& wanted) {
  report out = table_of(wanted);
  const bool tells = me.rank == 0;
  co_await barrier(me);  // so that both are connected, and the transport is known
  if (tells) out.title(me.peer.describe());
  for (const auto size : wanted.what.sizes) {
    if (tells) out.measuring(size_text(size));
    const auto samples = co_await half_round_trips(
        me, size, latency_plan(size, wanted.what.effort).lasting(wanted.what.for_ms));
    if (tells) out.add(make_line(head_of("latency", wanted.chosen, size), half_rtt_us, samples));
  }
  if (tells) out.finish();
}

void act_in_c(const c_side& me, const request& wanted) {
  report out = table_of(wanted);
  const bool tells = me.rank == 0;
  if (tells) out.title("through weft.h");
  for (const auto size : wanted.what.sizes) {
    if (tells) out.measuring(size_text(size));
    const auto samples = half_round_trips_in_c(me, size, latency_plan(size, wanted.what.effort));
    if (!tells) continue;
    auto line = make_line(head_of("latency", wanted.chosen, size), half_rtt_us, samples);
    line["api"] = "c";
    out.add(line);
  }
  if (tells) out.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("latency", "Half a round trip between two processes");
  add_job_options(*sub, wanted->what);
  add_duration_option(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  sub->add_flag("--c", wanted->in_c, "Through weft.h, by a loop in the manner of C")
      ->excludes("--hosts")
      ->excludes("--for-ms");
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    if (wanted->in_c)
      return on_c_stage("latency", wanted->chosen,
                        [&](const c_side& me) { act_in_c(me, *wanted); });
    on_stage("latency", wanted->chosen, wanted->what.hosts,
             [&](side& me) { return act(me, *wanted); });
  });
}

}  // namespace weft::bench::latency_command
