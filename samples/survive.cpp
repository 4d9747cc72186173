// SPDX-License-Identifier: Apache-2.0
// survive: a computation that goes on when a process dies. Each process keeps a copy of its left
// neighbour's part. When one dies, the others make a smaller group, the right neighbour of the dead
// one takes over its part, and all go back to the last step of which there are copies:
//
//   weft-run -n 4 survive --kill 2 --at 25
//     [3] rank 2 has died; 3 ranks go on with step 20
//     [0] right after 100 steps, on 3 ranks
//
// Or they wait until the dead one is started again: it takes its place, and gets its part back.
//
//   weft-run -n 4 --restart 1 survive --kill 2 --at 25 --replace
//     weft-run: rank 2 (pid 4711) was killed by signal 9 (Killed), and is started again (1 of 1
//     times) [2] rank 2 has come back, and goes on with step 20 [0] right after 100 steps, on 4
//     ranks
//
// weft-run exits with the status of a rank that died and was not started again. Rank 0 coordinates
// the job: without it, no process comes back.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr std::uint64_t all_cells = 1000;
constexpr int checkpoint_every = 10;

/// How long the others wait for a process that is started again.
constexpr auto patience = std::chrono::minutes(1);

struct settings {
  int steps = 100, at = 25;
  peer_id kill = no_peer;
  bool replace = false;
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
  static constexpr int none = -1;
  int step = none;
  cells mine, left;
};

class survivor {
 public:
  survivor(context& ctx, const settings& s)
      : team_(ctx.world()),
        me_(team_.rank()),
        returned_(membership(ctx).returned()),
        s_(s),
        mine_(cells_of(team_.rank(), team_.size())) {}

  task<void> compute() {
    if (returned_) co_await take_places();
    while (step_ != s_.steps) {
      const result<void> done = co_await as_result(make_step());
      if (done)
        ++step_;
      else if (!is_loss(done.code()))
        throw done.failure();
      else if (s_.replace)
        co_await take_places();
      else
        co_await take_over();
    }
    co_await check();
  }

 private:
  task<void> make_step() {
    if (step_ % checkpoint_every == 0) co_await save();
    if (me_ == s_.kill && step_ == s_.at && !returned_) std::raise(SIGKILL);
    const std::uint64_t sum = co_await team_.all_reduce(sum_of(mine_));
    advance(mine_, sum);
  }

  peer_id right() const { return (team_.rank() + 1) % team_.size(); }
  peer_id left() const { return (team_.rank() + team_.size() - 1) % team_.size(); }

  /// All members pass cells on to one other each. A collective ends when the group does; a message
  /// from a neighbour that lives, and has seen a loss first, would be waited for without end.
  task<cells> pass_on(cells some, peer_id to) {
    std::vector<std::size_t> counts(team_.size());
    counts[to] = some.size();
    auto come = co_await team_.all_to_all_parts(some, counts);
    co_return std::move(come.elements);
  }

  /// Gives a copy to the right neighbour, and keeps that of the left one. Two checkpoints are kept:
  /// a member may be one ahead of those that the loss has kept from theirs.
  task<void> save() {
    cells copy = co_await pass_on(mine_, right());
    older_ = std::move(newer_);
    newer_ = {step_, mine_, std::move(copy)};
  }

  /// Every member that is left comes here, because the loss ends the collectives of its group, and
  /// so does the process that has come back.
  task<void> take_places() {
    team_ = co_await within(patience, team_.replace());
    const std::vector<int> steps = co_await team_.all_gather(newer_.step);
    const auto is_new = [&](peer_id r) { return steps[r] == checkpoint::none; };
    int common = s_.steps;
    for (const int step : steps)
      if (step != checkpoint::none) common = std::min(common, step);
    const bool back = newer_.step == checkpoint::none;
    if (back && (is_new(left()) || is_new(right())))
      throw std::runtime_error("a part is lost: no copy of it is left");
    if (!back) go_back_to(common);
    // It gets its part from the right neighbour, and the copy that it keeps from the left one.
    cells of_left, own;
    if (is_new(left())) of_left = newer_.left;
    if (is_new(right())) own = newer_.mine;
    cells part = co_await pass_on(std::move(of_left), left());
    cells copy = co_await pass_on(std::move(own), right());
    if (!back) co_return;
    newer_ = {common, std::move(part), std::move(copy)};
    go_back_to(common);
    fmt::print("rank {} has come back, and goes on with step {}\n", team_.rank(), step_);
  }

  /// The same without the dead one, if it is not started again.
  task<void> take_over() {
    const endpoint neighbour = team_[left()];
    team_ = co_await team_.shrink();
    go_back_to(co_await team_.all_reduce(newer_.step, minimum{}));
    if (!team_.rank_of(neighbour)) {
      fmt::print("rank {} has died; {} ranks go on with step {}\n", neighbour.id(), team_.size(),
                 step_);
      mine_.insert(mine_.end(), newer_.left.begin(), newer_.left.end());
    }
    if (co_await team_.all_reduce(std::uint64_t{mine_.size()}) != all_cells)
      throw std::runtime_error("a part is lost: no copy of it is left");
  }

  void go_back_to(int step) {
    if (newer_.step != step) newer_ = std::move(older_);
    step_ = step;
    mine_ = newer_.mine;
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
  const peer_id me_;     // the rank in the world, which stays
  const bool returned_;  // whether it was another process's before
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
  app.add_flag("--replace", s.replace, "the others wait until it is started again");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return weft::run_main(act, s);
}
