// SPDX-License-Identifier: Apache-2.0
// Waits for descriptors beside messages that keep the loop busy.
#include <sys/eventfd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "io_ways.hpp"

using namespace weft;
using namespace weft::tests;
using namespace std::chrono_literals;

namespace {

constexpr tag ping{1}, last_ping{2};

/// Answers each message until the last one.
task<void> answer_pings(context& ctx, std::string address) {
  endpoint to = co_await ctx.connect(address);
  for (;;) {
    std::byte one{};
    const received what = co_await to.recv({&one, 1}, any_tag);
    if (what.tag == last_ping) break;
    co_await to.send({&one, 1}, ping);
  }
}

/// Sends pings as fast as it can until `over`, and makes the bell readable meanwhile.
task<void> ping_until(endpoint to, int bell, const bool& over, unsigned& rounds) {
  std::byte one{};
  for (rounds = 0;; ++rounds) {
    if (over) break;  // another coroutine sets it
    if (rounds == 1000) ::eventfd_write(bell, 1);
    co_await to.send({&one, 1}, ping);
    co_await to.recv({&one, 1}, ping);
  }
  co_await to.send({&one, 1}, last_ping);
}

task<void> note_bell(context& ctx, int bell, bool& rung) {
  co_await readable(ctx, bell);
  rung = true;
}

task<unsigned> ping_beside_a_wait(context& ctx, listener& at) {
  endpoint to = co_await at.accept();
  const unique_fd bell(::eventfd(0, EFD_CLOEXEC));
  bool rung = false;
  unsigned rounds = 0;
  co_await when_all(note_bell(ctx, bell.get(), rung), ping_until(to, bell.get(), rung, rounds));
  co_return rounds;
}

/// Coroutines that hand the loop to each other without messages or empty polls.
task<void> hand_over_until(context& ctx, pool& workers, const std::atomic<bool>& over) {
  while (!over) {
    co_await resume_on(workers);
    co_await resume_on(home(ctx));
  }
}

task<void> note_bell_of_pool(context& ctx, int bell, std::atomic<bool>& rung) {
  co_await readable(ctx, bell);
  rung = true;
}

}  // namespace

TEST_CASE_METHOD(each_way, "a wait ends while messages keep the loop busy") {
  listener at = run(ctx, ctx.listen("unix://weft-busy-" + std::to_string(::getpid())));
  context guest(waiting(progress_mode::dedicated, set));
  std::thread other([&] { run(guest, answer_pings(guest, at.address())); });
  CHECK(run(ctx, ping_beside_a_wait(ctx, at)) >= 1000);
  other.join();
}

TEST_CASE_METHOD(each_way, "a wait ends while coroutines keep the loop busy") {
  pool workers(1);
  const unique_fd bell(::eventfd(0, EFD_CLOEXEC));
  std::atomic<bool> rung = false;
  std::thread other([&] { ::eventfd_write(bell.get(), 1); });
  sync_wait(
      ctx, when_all(note_bell_of_pool(ctx, bell.get(), rung), hand_over_until(ctx, workers, rung)));
  other.join();
  CHECK(rung);
}
