// SPDX-License-Identifier: Apache-2.0
// A job that is whole again after each of many losses. Every rank but 0 kills itself at a random
// moment, also while it starts, and comes back; all compute one number, and check it at the end.
//   weft-run -n 4 --restart 100000 restored KILLS LIFE
// KILLS: so many processes have come back when the job ends. LIFE: half of the processes live for
// less than so many milliseconds; a few live for much longer, or no number would ever be computed.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using namespace std::chrono_literals;

/// Ends this process after a random time, unless it is disarmed.
class mortality {
 public:
  mortality(bool mortal, double median)
      : thread_([mortal, median](const std::stop_token& stop) {
          if (!mortal) return;
          std::random_device chance;
          const double life = std::abs(std::cauchy_distribution<double>(0, median)(chance));
          const auto end = std::chrono::steady_clock::now() +
                           std::chrono::microseconds(std::llround(std::min(life, 1e6) * 1000));
          while (std::chrono::steady_clock::now() < end && !stop.stop_requested())
            std::this_thread::sleep_for(100us);
          if (!stop.stop_requested()) ::kill(::getpid(), SIGKILL);
        }) {}
  void disarm() { thread_.request_stop(); }

 private:
  std::jthread thread_;
};

/// What every member knows at the end of a step.
struct state {
  std::int64_t step = 0;  ///< -1: none, of a process that has come back
  std::uint64_t sum = 0;
  std::uint64_t returned = 0;  ///< how many processes have come back, as far as it has seen
};

std::uint64_t part_of(peer_id rank, std::uint64_t sum) {
  return sum * 6364136223846793005u + rank + 1;
}

/// The same tag in every life: nothing that the dead have sent may be received.
constexpr tag hello{7};

struct greeting {
  peer_id sender;
  std::int64_t step;
};

class computation {
 public:
  computation(context& ctx, mortality& life, std::uint64_t goal)
      : ctx_(ctx), life_(life), goal_(goal), team_(ctx.world()) {
    if (membership(ctx).returned()) now_.step = -1;
  }

  task<void> run() {
    bool whole = now_.step >= 0;
    for (;;) {
      if (!whole) {
        const result<void> restored = co_await as_result(restore());
        if (restored.code() == errc::closed && is_done()) break;  // others have seen the end
        if (!restored && !is_loss(restored.code())) throw restored.failure();
        whole = static_cast<bool>(restored);
        continue;
      }
      if (is_done()) {
        life_.disarm();
        const result<void> over = co_await as_result(team_.barrier());
        whole = static_cast<bool>(over);
        if (whole) break;
        continue;
      }
      const result<void> done = co_await as_result(take_step());
      if (!done && !is_loss(done.code()) && done.code() != errc::timed_out) throw done.failure();
      whole = static_cast<bool>(done);
    }
    check();
  }

 private:
  bool is_done() const { return now_.returned >= goal_; }

  task<void> restore() {
    team_ = co_await within(30s, team_.replace());
    const std::vector<state> all = co_await team_.all_gather(now_);
    const auto known = [](const state& s) { return s.step >= 0; };
    state common = *std::ranges::find_if(all, known);
    for (const state& s : all)
      if (known(s) && s.step < common.step) common = s;
    for (const state& s : all) common.returned = std::max(common.returned, s.returned);
    // A loss and a return are two changes.
    common.returned = std::max(common.returned, membership(ctx_).now().epoch / 2);
    now_ = common;
  }

  static task<void> greet(endpoint right, greeting mine, endpoint left, greeting& theirs) {
    co_await when_all(right.send_value(hello, mine), left.recv_value(hello, theirs));
  }

  task<void> take_step() {
    const peer_id size = team_.size(), me = team_.rank();
    const endpoint right = team_[(me + 1) % size], left = team_[(me + size - 1) % size];
    const greeting mine{membership(ctx_).rank(), now_.step};
    greeting theirs{};
    // A neighbour that lives, and has seen a loss, sends no greeting: the end of the group does not
    // end messages between its members.
    co_await within(1s, greet(right, mine, left, theirs));
    if (theirs.sender != left.id())
      throw std::runtime_error("a message of rank " + std::to_string(theirs.sender) +
                               " came as one of rank " + std::to_string(left.id()));
    const std::uint64_t sum = co_await team_.all_reduce(part_of(me, now_.sum));
    now_.sum = sum;
    ++now_.step;
  }

  /// Compares with the same computation by one process.
  void check() const {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i != now_.step; ++i) {
      std::uint64_t next = 0;
      for (peer_id r = 0; r != team_.size(); ++r) next += part_of(r, sum);
      sum = next;
    }
    if (sum != now_.sum) throw std::runtime_error("the result is wrong");
    if (team_.rank() == 0)
      std::cout << "right after " << now_.step << " steps, and " << now_.returned << " returns"
                << std::endl;
  }

  context& ctx_;
  mortality& life_;
  const std::uint64_t goal_;
  group team_;
  state now_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::uint64_t goal = std::stoull(argv[1]);
  const char* const rank = std::getenv("WEFT_RANK");
  mortality life(rank && std::string(rank) != "0", std::stod(argv[2]));
  try {
    context ctx;
    const auto act = [&](context& c) -> task<void> {
      computation all(c, life, goal);
      co_await all.run();
    };
    run(ctx, act(ctx));
    return 0;
  } catch (const std::exception& e) {
    std::cerr << e.what() << std::endl;
    return 1;
  }
}
