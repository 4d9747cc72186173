// SPDX-License-Identifier: Apache-2.0
// Signals that coroutines await.
#include <pthread.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "io_ways.hpp"
#include "support/refusal.hpp"

using namespace weft;
using namespace weft::tests;
using namespace std::chrono_literals;

namespace {

bool is_blocked(int number) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, number) == 1;
}

task<void> signal_self(int number) {
  co_await sleep_for(1ms);
  ::kill(::getpid(), number);
}

/// \return the status of a child that calls `f`
int signal_child(const std::function<int()>& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(f());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

/// \return 0, or which step went wrong
int await_signals(progress_mode mode, const std::string& wait_set) {
  context ctx(waiting(mode, wait_set));
  signal_set end(ctx, {SIGUSR1, SIGUSR2});
  for (const int number : {SIGUSR1, SIGUSR2, SIGUSR1})
    if (std::get<0>(sync_wait(ctx, when_all(end.next(), signal_self(number)))) != number) return 1;
  ::kill(::getpid(), SIGUSR2);
  if (run(ctx, end.next()) != SIGUSR2) return 2;  // it came before
  const auto none = sync_wait(ctx, as_result(within(1ms, end.next())));
  return none.code() == errc::timed_out ? 0 : 3;
}

}  // namespace

TEST_CASE_METHOD(each_set, "signals are awaited") {
  const auto mode =
      GENERATE(progress_mode::dedicated, progress_mode::polling, progress_mode::interrupt);
  // A child has no threads of earlier tests, which might take the signals.
  const int status = signal_child([&] { return await_signals(mode, set); });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("signals: the mask is as it was after the set has gone") {
  const int status = signal_child([] {
    context ctx(waiting(progress_mode::dedicated, "auto"));
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &one, nullptr);
    {
      const signal_set end(ctx, {SIGUSR1, SIGUSR2});
      if (!is_blocked(SIGUSR1)) return 1;
    }
    return is_blocked(SIGUSR1) || !is_blocked(SIGUSR2) ? 2 : 0;
  });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("signals: a set that comes after a thread that would take them is refused") {
  context ctx(waiting(progress_mode::polling, "auto"));
  std::promise<void> begun, over;
  std::thread early([&] {
    begun.set_value();
    over.get_future().wait();
  });
  begun.get_future().wait();  // until it runs, the C library blocks all its signals
  CHECK_THAT(refusal([&] { const signal_set late(ctx, {SIGUSR1}); }),
             weft::tests::contains("does not block signal") &&
                 weft::tests::contains("before other threads"));
  over.set_value();
  early.join();
}

TEST_CASE("signals: one that came and was not awaited acts when the set has gone") {
  const int status = signal_child([] {
    std::signal(SIGTERM, SIG_DFL);
    context ctx(waiting(progress_mode::polling, "auto"));
    std::optional<signal_set> end(std::in_place, ctx, std::initializer_list<int>{SIGTERM});
    ::kill(::getpid(), SIGTERM);
    end.reset();
    return 0;
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("signals: sets that make no sense") {
  context ctx(waiting(progress_mode::polling, "auto"));
  const auto made = [&](std::initializer_list<int> signals) {
    return refusal([&] { const signal_set none(ctx, signals); });
  };
  CHECK_THAT(made({}), weft::tests::contains("no signals"));
  CHECK_THAT(made({SIGKILL}), weft::tests::contains("cannot be taken"));
  CHECK_THAT(made({1000}), weft::tests::contains("signal 1000"));
}
