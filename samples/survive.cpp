// SPDX-License-Identifier: Apache-2.0
// survive: a computation that goes on when a process dies. Each process keeps a copy of its left
// neighbour's part. When one dies, the others make a smaller group, the right neighbour of the dead
// one takes over its part, and all go back to the last step of which there are copies.
//
//   weft-run -n 4 survive --kill 2 --at 25
//     [3] rank 2 has died; 3 ranks go on with step 20
//     [0] right after 100 steps, on 3 ranks
//
// weft-run exits with the status of the rank that died. Rank 0 coordinates the job: without it, no
// smaller group can be made.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr std::uint64_t all_cells = 1000;
constexpr int checkpoint_every = 10;

struct settings {
  int steps = 100, at = 25;
  peer_id kill = no_peer;
};

struct cell {
  std::uint64_t index, value;
};
using cells = std::vector<cell>;

std::uint64_t sum_of(const cells& some) {
  return std::transform_reduce(some.begin(), some.end(), std::uint64_t{0}, std::plus<>(),
                               [](const cell& c) { return c.value; });
}

/// One step of the computation: each cell needs the sum of all cells. Integers wrap around, so that
/// the result is the same in any order.
void advance(cells& some, std::uint64_t sum) {
  for (cell& c : some) c.value = 6364136223846793005 * c.value + sum + c.index;
}

cells cells_of(peer_id rank, peer_id ranks) {
  cells some;
  for (std::uint64_t i = all_cells * rank / ranks; i != all_cells * (rank + 1) / ranks; ++i)
    some.push_back({i, i});
  return some;
}

/// What a process has at the begin of a step: its part, and its left neighbour's.
struct checkpoint {
  int step = 0;
  cells mine, left;
};

class survivor {
 public:
  survivor(context& ctx, const settings& s)
      : team_(ctx.world()), me_(team_.rank()), s_(s), mine_(cells_of(team_.rank(), team_.size())) {}

  task<void> compute() {
    while (step_ != s_.steps) {
      const result<void> done = co_await as_result(make_step());
      if (done)
        ++step_;
      else if (is_loss(done.code()))
        co_await recover();
      else
        throw done.failure();
    }
    co_await check();
  }

 private:
  task<void> make_step() {
    if (step_ % checkpoint_every == 0) co_await save();
    if (me_ == s_.kill && step_ == s_.at) std::raise(SIGKILL);
    const std::uint64_t sum = co_await team_.all_reduce(sum_of(mine_));
    advance(mine_, sum);
  }

  endpoint neighbour(peer_id distance) const {
    return team_[(team_.rank() + distance) % team_.size()];
  }

  /// Gives a copy to the right neighbour, and keeps that of the left one. Two checkpoints are kept:
  /// a member may be one ahead of those that the loss has kept from theirs.
  task<void> save() {
    checkpoint next{step_, mine_, {}};
    // The group's own: no copy from before a loss is taken for a later one.
    const tag copy = team_.own_tag(tag{1});
    co_await when_all(neighbour(1).send_value(copy, mine_),
                      neighbour(team_.size() - 1).recv_value(copy, next.left));
    older_ = std::move(newer_);
    newer_ = std::move(next);
  }

  /// Every member that is left comes here, because the loss ends the collectives of its group.
  task<void> recover() {
    const endpoint left = neighbour(team_.size() - 1);
    team_ = co_await team_.shrink();
    const int common = co_await team_.all_reduce(newer_.step, minimum{});
    if (newer_.step != common) newer_ = std::move(older_);
    step_ = common;
    mine_ = newer_.mine;
    if (!team_.rank_of(left)) {
      fmt::print("rank {} has died; {} ranks go on with step {}\n", left.id(), team_.size(), step_);
      mine_.insert(mine_.end(), newer_.left.begin(), newer_.left.end());
    }
    if (co_await team_.all_reduce(std::uint64_t{mine_.size()}) != all_cells)
      throw std::runtime_error("a part is lost: no copy of it is left");
  }

  /// Compares with the same computation on one process.
  task<void> check() {
    cells alone = cells_of(0, 1);
    for (int i = 0; i != s_.steps; ++i) advance(alone, sum_of(alone));
    const std::uint64_t sum = co_await team_.all_reduce(sum_of(mine_));
    if (sum != sum_of(alone)) throw std::runtime_error("the result is wrong");
    if (team_.rank() == 0)
      fmt::print("right after {} steps, on {} ranks\n", s_.steps, team_.size());
  }

  group team_;
  const peer_id me_;  // the rank in the job, which stays
  const settings s_;
  int step_ = 0;
  cells mine_;
  checkpoint newer_, older_;
};

task<void> act(context& ctx, settings s) {
  survivor one(ctx, s);
  co_await one.compute();
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("A computation that goes on when a process dies.");
  app.add_option("--steps", s.steps, "how many")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--kill", s.kill, "the rank that kills itself; not 0")
      ->check(CLI::Range(1u, 1u << 24));
  app.add_option("--at", s.at, "in this step")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return weft::run_main(act, s);
}
