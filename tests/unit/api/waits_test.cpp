// SPDX-License-Identifier: Apache-2.0
// Channels and events between contexts, whose threads sleep meanwhile.
#include <atomic>
#include <chrono>
#include <thread>

#include <weft/coro/channel.hpp>
#include <weft/coro/event.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

[[gnu::noinline]] std::thread::id current_thread() { return std::this_thread::get_id(); }

/// Answers each number with the next one. \return how often it resumed on another thread
task<int> answer(channel<int>& questions, channel<int>& answers, std::thread::id where) {
  int elsewhere = 0;
  while (std::optional<int> number = co_await questions.receive()) {
    elsewhere += current_thread() != where;
    co_await answers.send(*number + 1);
    elsewhere += current_thread() != where;
  }
  answers.close();
  co_return elsewhere;
}

task<int> ask(channel<int>& questions, channel<int>& answers, std::thread::id where) {
  int elsewhere = 0, number = 0;
  while (number < 2000) {
    co_await questions.send(number);
    std::optional<int> next = co_await answers.receive();
    elsewhere += current_thread() != where || *next != number + 1;
    number = *next;
  }
  questions.close();
  co_return elsewhere;
}

task<void> pass_and_tell(event& gate, event& passed) {
  co_await gate.wait();
  passed.set();
}

}  // namespace

TEST_CASE("coroutines of two contexts talk by channels, each on its own thread") {
  for (const progress_mode mode : {progress_mode::dedicated, progress_mode::interrupt}) {
    options o;
    o.progress = mode;
    context one(o), two(o);
    channel<int> questions(0), answers(1);
    int elsewhere = 0;
    std::thread other([&] { elsewhere = run(two, answer(questions, answers, current_thread())); });
    CHECK(run(one, ask(questions, answers, current_thread())) == 0);
    other.join();
    CHECK(elsewhere == 0);
  }
}

TEST_CASE("a plain thread wakes a context that sleeps, and deadlines end waits") {
  context ctx;
  event gate, passed;
  std::thread setter([&] { gate.set(); });
  run(ctx, pass_and_tell(gate, passed));
  setter.join();
  CHECK(passed.is_set());
  gate.reset();
  auto late = as_result(within(1ms, gate.wait()));
  CHECK(sync_wait(ctx, std::move(late)).code() == errc::timed_out);
}

TEST_CASE("a spawned chain that waits on a pool ends when its channel is closed") {
  pool workers(1);
  channel<int> numbers(1);
  std::atomic<int> sum = 0;
  {
    context ctx;
    spawn(ctx, [](pool& p, channel<int>& from, std::atomic<int>& n) -> task<void> {
      co_await resume_on(p);
      while (std::optional<int> number = co_await from.receive()) n += *number;
    }(workers, numbers, sum));
    run(ctx, [](channel<int>& to) -> task<void> {
      for (int i = 1; i != 5; ++i) co_await to.send(i);
      to.close();
    }(numbers));
  }  // waits for the chain
  CHECK(sum == 10);
}
