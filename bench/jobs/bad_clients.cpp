// SPDX-License-Identifier: Apache-2.0
// The cost of bad connections to the ports of a working job: time of a half round trip over TCP
// with and without them, in turns, so that drift of the machine affects both.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "jobs/intruder.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "stage/ways.hpp"
#include "support/pair.hpp"
#include "wireup/auth/job_key.hpp"

namespace weft::bench::bad_clients_command {
namespace {

constexpr std::size_t message = 64;
constexpr double bound = 1.05;  // of the design

struct request {
  settings chosen{.transport = "tcp"};
  double rate = 1000;
  int rounds = 31;
  double effort = 1;
};

/// The first "a.b.c.d:port" behind `words` in a text.
std::optional<sockaddr_in> place_in(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  if (at == text.npos) return std::nullopt;
  const std::size_t begin = at + words.size(), colon = text.find(':', begin);
  if (colon == text.npos) return std::nullopt;
  sockaddr_in place{};
  place.sin_family = AF_INET;
  if (::inet_pton(AF_INET, text.substr(begin, colon - begin).c_str(), &place.sin_addr) != 1)
    return std::nullopt;
  place.sin_port = htons(static_cast<std::uint16_t>(std::stoul(text.substr(colon + 1))));
  return place;
}

void tell(const request& wanted, std::uint64_t made, const std::array<std::vector<double>, 2>& of) {
  report out({{"bad clients a second", "bad_clients_s"},
              {"connections", "connections"},
              {"half round trip µs", "half_rtt_us"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"ratio", "ratio"},
              {"target", "target"}},
             wanted.chosen.as_json);
  out.title(fmt::format("tcp, {} bytes; {} rounds in turns; ratio: of the medians", message,
                        wanted.rounds));
  for (std::size_t i = 0; i != 2; ++i) {
    auto line = make_line(head_of("bad-clients", wanted.chosen, message), half_rtt_us, of[i]);
    line["bad_clients_s"] = i == 0 ? 0.0 : wanted.rate;
    if (i == 1) {
      line["connections"] = made;
      line["ratio"] = median(of[1]) / median(of[0]);
      line["target"] = fmt::format("≤ {}: {}", bound,
                                   line["ratio"].get<double>() <= bound ? "met" : "falls short");
    }
    out.add(line);
  }
  out.finish();
}

void act(forked_member& member, const request& wanted, const std::string& key, intruder& clients) {
  options chosen = options_of(wanted.chosen);
  chosen.job_key = key;
  context ctx(chosen);
  listener listening = run(ctx, ctx.listen("tcp://127.0.0.1:0"));
  char* const told = reinterpret_cast<char*>(member.shared().data());
  endpoint peer;
  if (member.rank() == 0) {
    listening.address().copy(told, longest_address - 1);
    member.barrier();
    peer = run(ctx, listening.accept());
  } else {
    member.barrier();
    peer = run(ctx, ctx.connect(told));
  }
  const side me{ctx, peer, member.rank()};
  constexpr plan loops{.warm_up = 500, .batches = 5, .per_batch = 2000};
  const plan turn = loops.scaled(wanted.effort);
  run(ctx, half_round_trips(me, message, turn));  // both sides are connected

  // The control plane's port, and the transport's on the side that listens.
  clients.aim_at(place_in(listening.address(), "tcp://").value());
  if (const auto place = place_in(ctx.describe(), "listens on ")) clients.aim_at(*place);
  member.barrier();
  std::array<std::vector<double>, 2> samples;
  in_turns(wanted.rounds, samples.size(), [&](std::size_t which) {
    if (member.rank() == 0) clients.let_loose(which == 1);
    member.barrier();
    samples[which].push_back(median(run(ctx, half_round_trips(me, message, turn))));
    member.barrier();
  });
  if (member.rank() == 0) clients.let_loose(false);
  if (member.rank() == 0) tell(wanted, clients.made(), samples);
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("bad-clients", "What bad connections cost a job over TCP");
  sub->add_option("--rate", wanted->rate, "Bad connections a second")->check(CLI::PositiveNumber);
  sub->add_option("--rounds", wanted->rounds, "Turns of with and without")
      ->check(CLI::PositiveNumber);
  sub->add_option("--effort", wanted->effort, "Factor on the samples of each round")
      ->check(CLI::PositiveNumber);
  add_settings(*sub, wanted->chosen, {.transport = false});
  sub->callback([wanted] {
    const std::string key = wireup::job_key::random().to_text();
    intruder clients(wanted->rate);
    const pair_options stage{.name = "bad-clients",
                             .shared_bytes = longest_address,
                             .time_limit = std::chrono::minutes(10),
                             .pin = wanted->chosen.pin};
    run_pair(stage, [&](forked_member& member) { act(member, *wanted, key, clients); });
  });
}

}  // namespace weft::bench::bad_clients_command
