// SPDX-License-Identifier: Apache-2.0
#include "peers/pair_peer.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <optional>

#include "output/json_lines.hpp"
#include "support/hosts.hpp"

namespace weft::bench {

void pair_side::tell(std::uint16_t port) const {
  std::memcpy(me.shared().data(), &port, sizeof port);
  me.barrier();
}

std::uint16_t pair_side::told() const {
  me.barrier();
  std::uint16_t port = 0;
  std::memcpy(&port, me.shared().data(), sizeof port);
  return port;
}

void fill_all(heap_buffers& buffers) {
  for (std::size_t i = 0; i < buffers.count(); ++i) fill(buffers[i], i + 1);
}

void verify_all(heap_buffers& buffers, std::size_t used) {
  for (std::size_t i = 0; i < std::min(used, buffers.count()); ++i) verify(buffers[i], i + 1);
}

int pair_peer_main(int argc, char** argv, const std::string& library,
                   const std::function<void(pair_side&)>& measure) {
  CLI::App app("The work of weft-bench, done by " + library);
  app.require_subcommand(1);
  std::array<job, 3> jobs;
  line_head head{.bench = {}, .transport = "tcp", .progress = {}};
  const char* names[] = {"latency", "rate", "bandwidth"};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].bench = names[i];
    if (jobs[i].bench == "rate") jobs[i].window = 64;
    auto* sub = app.add_subcommand(names[i]);
    add_job_options(*sub, jobs[i]);
    sub->add_option("--transport", head.transport)->check(CLI::IsMember({"tcp"}));
    sub->add_option("--progress", head.progress, "What to call the mode of progress in the output");
    sub->add_flag("--json")->description("Accepted for symmetry: the output always is JSON lines");
  }
  CLI11_PARSE(app, argc, argv);
  const job* what = jobs.data();
  while (!app.got_subcommand(what->bench)) ++what;
  head.bench = what->bench;

  try {
    std::optional<hosts> apart;
    if (what->hosts) apart.emplace();
    const std::string host = apart ? hosts::address(0) : "127.0.0.1";
    const auto metric = what->bench == "latency" ? half_rtt_us
                        : what->bench == "rate"  ? mmsg_s
                                                 : mb_s;
    for (const auto size : what->sizes) {
      head.size = size;
      auto samples = run_pair({.name = library,
                               .shared_bytes = sizeof(std::uint16_t),
                               .apart = apart ? &*apart : nullptr},
                              [&](forked_member& me) {
                                pair_side side{me, *what, size, host};
                                measure(side);
                                me.barrier();
                              })[0];
      if (metric == mb_s)
        for (auto& sample : samples) sample *= static_cast<double>(size);
      json line = make_line(head, metric, samples);
      line["library"] = library;
      if (metric != half_rtt_us) {
        line["window"] = what->window;
        line["buffers"] = what->buffers;
      }
      print_line(line);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", library, error.what());
    return 1;
  }
}

}  // namespace weft::bench
