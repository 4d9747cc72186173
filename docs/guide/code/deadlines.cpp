// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <weft/weft.hpp>

using namespace weft;
using namespace std::chrono_literals;

constexpr tag news{1}, done{2};

task<void> wait_for_news(endpoint peer) {
  int number = co_await peer.recv_value<int>(news);
  std::printf("news: %d\n", number);
}

task<void> play(context& ctx) {
  group world = ctx.world();
  if (world.rank() == 1) {
    co_await world[0].recv_value<int>(done);
    co_return;  // and leaves the job
  }

  // A deadline holds for all that a task awaits.
  try {
    co_await within(20ms, wait_for_news(world[1]));
  } catch (const error& e) {
    std::printf("1: %s\n", e.what());
  }

  // The same as a value.
  result<int> got = co_await as_result(within(20ms, world[1].recv_value<int>(news)));
  if (got.code() == errc::timed_out) std::printf("2: no news is good news\n");

  // A scope ends its work on request. Stopped work has not failed.
  scope waiting;
  waiting.start(wait_for_news(world[1]));
  waiting.request_stop();
  co_await waiting.join();
  std::printf("3: stopped\n");

  // A peer that leaves or dies ends what waits for it.
  co_await world[1].send_value(done, 1);
  got = co_await as_result(world[1].recv_value<int>(news));
  if (got.code() == errc::closed) std::printf("4: rank 1 has left\n");
}

int main() { return run_main(play); }
