// SPDX-License-Identifier: Apache-2.0
// rate and bandwidth: the same loop, with results in messages or in bytes.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"

namespace weft::bench::window_commands {
namespace {

constexpr std::size_t kib = 1024;

struct request {
  settings chosen;
  job what;
};

task<void> act(side& me, const request& wanted) {
  const job& what = wanted.what;
  const bool counts_bytes = what.bench == "bandwidth";
  const auto metric = counts_bytes ? mb_s : mmsg_s;
  report out(with_percentiles(
                 {{"size", "size"}, {counts_bytes ? "MB/s" : "M messages/s", std::string(metric)}}),
             wanted.chosen.as_json);
  const bool tells = me.rank == 0;
  co_await barrier(me);  // so that both are connected, and the transport is known
  if (tells)
    out.title(fmt::format("{}\n{} in flight{}, {} buffers", me.peer.describe(), what.window,
                          what.batches ? " by one send_many and one recv_many" : "", what.buffers));
  for (const auto size : what.sizes) {
    if (tells) out.measuring(size_text(size));
    auto samples = co_await windows(me, size, what);
    if (!tells) continue;
    if (counts_bytes)
      for (auto& sample : samples) sample *= static_cast<double>(size);
    auto line = make_line(head_of(what.bench, wanted.chosen, size), metric, samples);
    line["mean"] = harmonic_mean(samples);
    line["window"] = what.window;
    line["batches"] = what.batches;
    line["buffers"] = what.buffers;
    out.add(line);
  }
  if (tells) out.finish();
}

void add_command(CLI::App& app, const char* about, job what) {
  auto wanted = std::make_shared<request>();
  wanted->what = std::move(what);
  auto* sub = app.add_subcommand(wanted->what.bench, about);
  add_job_options(*sub, wanted->what);
  add_duration_option(*sub, wanted->what);
  sub->add_flag("--batches", wanted->what.batches,
                "A window is one send_many and one recv_many, not many sends and receives");
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_stage(wanted->what.bench, wanted->chosen, wanted->what.hosts,
             [&](side& me) { return act(me, *wanted); });
  });
}

}  // namespace

void add_rate(CLI::App& app) {
  add_command(app, "Small messages, many in flight",
              {.bench = "rate", .sizes = {8, 64, 256, kib}, .window = 64});
}

void add_bandwidth(CLI::App& app) {
  add_command(app, "Large messages, one or many in flight",
              {.bench = "bandwidth",
               .sizes = {4 * kib, 16 * kib, 64 * kib, 256 * kib, kib * kib, 4 * kib * kib}});
}

}  // namespace weft::bench::window_commands
