// SPDX-License-Identifier: Apache-2.0
// Both processes send and receive at once, as by MPI_Sendrecv: the pattern SendRecv of the Pallas
// benchmarks, by which the papers of Chemnitz compare their devices.
#include <memory>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "support/clock.hpp"

namespace weft::bench::sendrecv_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

struct request {
  settings chosen;
  job what{.bench = "sendrecv",
           .sizes = {8, 256, kib, 4 * kib, 8 * kib, 16 * kib, 64 * kib, 256 * kib, 512 * kib, mib,
                     4 * mib}};
};

task<void> act(side& me, const request& wanted) {
  report out(with_percentiles({{"size", "size"},
                               {"µs a call", std::string(us_per_call)},
                               {"MB/s, both ways", std::string(mb_s)}}),
             wanted.chosen.as_json);
  const bool tells = me.rank == 0;
  co_await barrier(me);  // so that both are connected, and the transport is known
  if (tells) out.title(me.peer.describe());
  for (const auto size : wanted.what.sizes) {
    if (tells) out.measuring(size_text(size));
    const auto samples = co_await exchanges(me, size, latency_plan(size, wanted.what.effort));
    if (!tells) continue;
    auto line = make_line(head_of("sendrecv", wanted.chosen, size), us_per_call, samples);
    line[std::string(mb_s)] = 2.0 * static_cast<double>(size) / median(samples);
    out.add(line);
  }
  if (tells) out.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("sendrecv", "Both processes send and receive at once");
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_stage("sendrecv", wanted->chosen, wanted->what.hosts,
             [&](side& me) { return act(me, *wanted); });
  });
}

}  // namespace weft::bench::sendrecv_command
