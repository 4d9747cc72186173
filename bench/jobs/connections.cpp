// SPDX-License-Identifier: Apache-2.0
// The resident memory and the descriptors of a process for each of a thousand connections: after a
// peer has connected, after it has sent and received a message, and after all have gone.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "jobs/crowd.hpp"
#include "stage/report.hpp"
#include "support/process_memory.hpp"

namespace weft::bench::connections_command {
namespace {

struct request {
  settings chosen{.transport = "tcp"};
  std::size_t connections = 1000;
};

// Each of the crowd's contexts has about 20 descriptors, and a process has its limit.
constexpr std::size_t contexts_in_a_process = 250;

struct holdings {
  double kib = 0;
  double descriptors = 0;

  static holdings now() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return {process_memory::now().rss, static_cast<double>(std::distance(begin(all), end(all)))};
  }
};

task<void> let_in(listener& listening, std::vector<endpoint>& guests, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) guests.push_back(co_await listening.accept());
}

task<void> answer_all(const std::vector<endpoint>& guests) {
  std::array<std::byte, 8> word{};
  for (const endpoint& peer : guests) {
    co_await peer.recv(word, data_tag);
    co_await peer.send(word, data_tag);
  }
}

task<void> see_off(std::vector<endpoint>& guests) {
  for (endpoint& peer : guests) static_cast<void>(co_await as_result(peer.closed()));
}

void measure(const request& wanted) {
  allow_many_files();
  std::vector<std::unique_ptr<crowd>> crowds;
  for (std::size_t left = wanted.connections; left != 0;) {
    const std::size_t here = std::min(left, contexts_in_a_process);
    settings silent = wanted.chosen;
    silent.progress = "interrupt";
    crowds.push_back(std::make_unique<crowd>(here, silent));
    left -= here;
  }
  context ctx(options_of(wanted.chosen));
  const std::string address = fmt::format("unix://weft-bench-{}", ::getpid());
  listener listening = run(ctx, ctx.listen(address));
  std::vector<endpoint> guests;
  guests.reserve(wanted.connections);

  report out({{"connections", "connections"},
              {"state", "state"},
              {"KiB each", "rss_kib_each"},
              {"descriptors each", "descriptors_each"}},
             wanted.chosen.as_json);
  const holdings before = holdings::now();
  const auto tell = [&](std::string_view state) {
    const holdings after = holdings::now();
    const auto n = static_cast<double>(wanted.connections);
    json line;
    line["bench"] = "connections";
    line["transport"] = wanted.chosen.transport;
    line["progress"] = wanted.chosen.progress;
    line["connections"] = wanted.connections;
    line["state"] = state;
    line["rss_kib_each"] = (after.kib - before.kib) / n;
    line["descriptors_each"] = (after.descriptors - before.descriptors) / n;
    out.add(line);
  };
  for (const auto& some : crowds) some->connect(address);
  run(ctx, let_in(listening, guests, wanted.connections));
  for (const auto& some : crowds) some->wait();
  tell("idle");
  for (const auto& some : crowds) some->greet();
  run(ctx, answer_all(guests));
  for (const auto& some : crowds) some->wait();
  tell("active");
  crowds.clear();
  run(ctx, see_off(guests));
  guests.clear();
  tell("gone");
  out.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("connections", "What a thousand connections hold");
  sub->add_option("--connections", wanted->connections, "How many, all to one process")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_settings(*sub, wanted->chosen);
  sub->callback([wanted] { measure(*wanted); });
}

}  // namespace weft::bench::connections_command
