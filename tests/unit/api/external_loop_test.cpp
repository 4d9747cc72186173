// SPDX-License-Identifier: Apache-2.0
// Waiting on an external loop.

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include <weft/context_address.hpp>
#include <weft/coro/detail/detached_task.hpp>
#include <weft/external_loop.hpp>
#include <weft/group.hpp>
#include <weft/run.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

TEST_CASE(
    "external loop: what another thread ends while a waiter makes ready to sleep, the waiter "
    "sees") {
  options alone;
  alone.progress = progress_mode::interrupt;  // one poll, then sleep
  context ctx(alone);
  external_loop calls(ctx);
  // After the waiter's poll another thread polled and ended the operation. It saw no sleeping
  // thread, so it rang no doorbell.
  struct waiter {
    int asked = 0;
  } it;
  const auto ended_after_the_look = [](void* w) { return ++static_cast<waiter*>(w)->asked > 1; };
  CHECK(calls.wait(std::chrono::steady_clock::now() + 5s, ended_after_the_look, &it));
  CHECK(ctx.snapshot().sleeps == 0);
}

TEST_CASE("external loop: a condition that was true once, when the waiter made ready to sleep") {
  options alone;
  alone.progress = progress_mode::interrupt;  // one poll, then sleep
  context ctx(alone);
  external_loop calls(ctx);
  int asked = 0;
  const auto takes_it = [](void* n) { return ++*static_cast<int*>(n) == 2; };
  CHECK(calls.wait(std::chrono::steady_clock::now() + 5s, takes_it, &asked));
  CHECK(asked == 2);
}

namespace {
/// An operation that knows when it has ended.
template <class Operation>
struct tracked : Operation {
  template <class Request>
  explicit tracked(const Request& r)
      : Operation(r, [](operation& op) noexcept { static_cast<tracked&>(op).ended = true; }) {}
  void go() { ended = this->start_held(); }
  bool ended = false;
};

/// A message from a rank to itself, and the next one when it has come.
struct traffic {
  explicit traffic(endpoint to) : me(std::move(to)) {}
  bool on_its_way() const { return send && !(send->ended && receive->ended); }
  void go_on() {
    if (on_its_way()) return;
    receive.emplace(me.recv(in, tag{1}));
    send.emplace(me.send(out, tag{1}));
    receive->go();
    send->go();
    ++messages;
  }
  const endpoint me;
  std::array<std::byte, 8> out{}, in{};
  std::optional<tracked<send_operation>> send;
  std::optional<tracked<recv_operation>> receive;
  unsigned messages = 0;
};
}  // namespace

TEST_CASE("external loop: a wait ends at its moment also while other messages come and go") {
  context ctx;
  external_loop calls(ctx);
  traffic all(ctx.peer(0));
  const auto one_more = [](void* t) {
    static_cast<traffic*>(t)->go_on();
    return static_cast<traffic*>(t)->messages == 20'000'000;
  };
  CHECK_FALSE(calls.wait(std::chrono::steady_clock::now() + 20ms, one_more, &all));
  external_loop::progress_guard hold(calls);
  while (all.on_its_way()) hold.poll();
}

namespace {

/// The end of a chain that a loop of calls has begun.
struct chain_end final : detail::detached_task_owner {
  std::atomic<bool> ended{false};
  std::exception_ptr failure;
  void task_ended(std::exception_ptr why) noexcept override {
    failure = std::move(why);
    ended = true;
  }
};

task<void> add_up(group of, std::vector<int>& numbers) {
  for (int round = 0; round != 10; ++round) {
    co_await of.barrier();
    co_await of.all_reduce(numbers);
  }
}

options one_of_two(progress_mode mode) {
  options o;
  o.standalone = true;
  o.progress = mode;
  o.transports = {"self", "shm"};
  return o;
}

}  // namespace

TEST_CASE("external loop: collectives move by its polls, and end in them") {
  const progress_mode mode =
      GENERATE(progress_mode::polling, progress_mode::interrupt, progress_mode::dedicated);
  CAPTURE(static_cast<int>(mode));
  context here(one_of_two(mode)), there(one_of_two(mode));
  const std::vector<endpoint> two{peer_at(here, context_address_of(there)), endpoint()};
  const std::vector<endpoint> other_two{endpoint(), peer_at(there, context_address_of(here))};
  std::vector<int> ours(500, 1), theirs(500, 1);
  std::thread other([&] { run(there, add_up(group::of(there, other_two, 0, "two"), theirs)); });
  {
    external_loop calls(here);
    chain_end end;
    // The chain's home is not this loop, whose thread is whichever thread polls.
    detail::start_detached(end, {&background(here)}, add_up(group::of(here, two, 1, "two"), ours),
                           [] {});
    const auto has_ended = [](void* e) { return static_cast<chain_end*>(e)->ended.load(); };
    CHECK(calls.wait(std::chrono::steady_clock::now() + 30s, has_ended, &end));
    REQUIRE(end.ended);
    CHECK(end.failure == nullptr);
  }
  other.join();
  CHECK(ours == std::vector<int>(500, 1 << 10));
  CHECK(theirs == ours);
}
