// SPDX-License-Identifier: Apache-2.0
// Barriers of whole jobs, in turns by group::barrier and by the same algorithm with sends and
// receives of the application.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "stage/ranks.hpp"
#include "stage/report.hpp"
#include "support/clock.hpp"

namespace weft::bench::barrier_command {
namespace {

constexpr int warm_up = 5;     // rounds
constexpr int at_a_time = 20;  // barriers of a way in each round

struct request {
  settings chosen;
  std::vector<int> ranks{2, 4, 6};
  int rounds = 101;
};

/// Dissemination: in each step every rank sends to the rank twice as far ahead, and receives from
/// the rank as far behind. Each message has the number of its barrier.
class by_messages {
 public:
  explicit by_messages(const group& world) {
    const peer_id me = world.rank(), all = world.size();
    for (peer_id far = 1; far < all; far *= 2)
      steps_.push_back({world[(me + far) % all], world[(me + all - far) % all]});
  }

  task<void> barrier() {
    ++number_;
    for (step& s : steps_) {
      std::uint64_t heard = 0;
      co_await s.ahead.send(std::as_bytes(std::span(&number_, 1)), data_tag);
      co_await s.behind.recv(std::as_writable_bytes(std::span(&heard, 1)), data_tag);
      if (heard != number_)
        throw std::runtime_error(fmt::format("barrier {} heard of {}", number_, heard));
    }
  }

 private:
  struct step {
    endpoint ahead, behind;
  };
  std::vector<step> steps_;
  std::uint64_t number_ = 0;
};

/// \param way has a `barrier`. \return microseconds for each, on this rank
template <class Way>
task<double> some(const group& world, Way& way) {
  co_await world.barrier();  // all ranks begin the first one together
  const auto start = now_ns();
  for (int i = 0; i != at_a_time; ++i) co_await way.barrier();
  co_return us_between(start, now_ns()) / at_a_time;
}

task<void> act(context& ctx, const request& wanted) {
  const group world = ctx.world();
  by_messages messages(world);
  std::vector<double> of_weft, of_messages;
  for (int round = -warm_up; round < wanted.rounds; ++round) {
    // The order changes, so that neither way always follows the other.
    for (const bool first : {true, false}) {
      const bool by_weft = first == (round % 2 == 0);
      const double us = by_weft ? co_await some(world, world) : co_await some(world, messages);
      if (round >= 0) (by_weft ? of_weft : of_messages).push_back(us);
    }
  }
  co_await world.barrier();
  if (world.rank() != 0) co_return;
  report out({{"way", "way"},
              {"µs a barrier", std::string(us_per_call)},
              {"p10", "p10"},
              {"p90", "p90"},
              {"to send and receive", "ratio"}},
             wanted.chosen.as_json);
  out.title(fmt::format("{} processes over {}, {} barriers {} times each, in turns", world.size(),
                        wanted.chosen.transport, at_a_time, wanted.rounds));
  for (const auto& [way, samples] :
       {std::pair("send and receive", of_messages), std::pair("group::barrier", of_weft)}) {
    auto line = make_line(head_of("barrier", wanted.chosen, 0), us_per_call, samples);
    line["way"] = way;
    line["ranks"] = world.size();
    line["ratio"] = median_ratio(samples, of_messages);
    out.add(line);
  }
  out.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("barrier",
                                 "Barriers of whole jobs, against the same by sends and receives");
  sub->add_option("--ranks", wanted->ranks, "Processes, shared out over the allowed cores; a list")
      ->delimiter(',')
      ->check(CLI::Range(2, 1024));
  sub->add_option("--rounds", wanted->rounds, "Samples of each way")->check(CLI::PositiveNumber);
  add_settings(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_ranks(wanted->chosen, {.counts = wanted->ranks},
             [&](context& ctx) { return act(ctx, *wanted); });
  });
}

}  // namespace weft::bench::barrier_command
