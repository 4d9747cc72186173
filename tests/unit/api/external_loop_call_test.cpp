// SPDX-License-Identifier: Apache-2.0
// Calls under an external loop, which completes operations with the progress lock held. A call that
// took the lock again would wait for its own thread for ever: each test gives its loop a thread,
// and half a minute.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include <weft/context_address.hpp>
#include <weft/external_loop.hpp>
#include <weft/run.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr am echo_number{3};

options end_of_call_pair(progress_mode mode) {
  options o;
  o.standalone = true;
  o.progress = mode;
  o.transports = {"self", "shm"};
  return o;
}

/// Ends the program if the work hangs: its thread cannot be joined.
void within_half_a_minute(const char* what, std::function<void()> work) {
  std::packaged_task<void()> job(std::move(work));
  std::future<void> end = job.get_future();
  std::thread worker(std::move(job));
  if (end.wait_for(30s) != std::future_status::ready) {
    std::fprintf(stderr, "%s: it hangs\n", what);
    std::_Exit(EXIT_FAILURE);
  }
  worker.join();
  end.get();
}

/// An operation that a loop starts, and whether it has ended.
template <class Operation>
struct by_call_loop : Operation {
  template <class Request>
  explicit by_call_loop(const Request& r)
      : Operation(r, [](operation& op) noexcept { static_cast<by_call_loop&>(op).ended = true; }) {}
  bool ended = false;
};

template <class Operation>
bool ends_in_call_loop(external_loop& loop, by_call_loop<Operation>& op) {
  const auto over = [](void* of) { return static_cast<by_call_loop<Operation>*>(of)->ended; };
  return loop.wait(std::chrono::steady_clock::now() + 30s, over, &op) && op.status == errc::ok;
}

task<void> echo_of_call(weft::call c) {
  std::vector<std::byte> body(c.size());
  co_await c.recv(body);
  co_await c.reply(body);
}

task<void> until_told(endpoint loop) {
  std::byte last{};
  co_await loop.recv({&last, 1}, tag{2});
}

/// Calls, with a message behind the call, and one behind the reply.
task<void> call_and_tell(endpoint loop, std::vector<std::byte>& reply) {
  const std::vector<std::byte> args(reply.size(), std::byte{7});
  scope both;
  both.start(loop.call(echo_number, args, reply));
  std::byte behind{};
  both.start(loop.send({&behind, 1}, tag{2}));
  co_await both.join();
  co_await loop.send({&behind, 1}, tag{4});
}

}  // namespace

TEST_CASE("external loop: calls of any length end in its polls, as do their replies") {
  within_half_a_minute("calls by an external loop", [] {
    context here(end_of_call_pair(progress_mode::polling));
    context there(end_of_call_pair(progress_mode::polling));
    const handler echo = there.on(echo_number, echo_of_call);
    const endpoint to_there = peer_at(here, context_address_of(there));
    const endpoint to_here = peer_at(there, context_address_of(here));
    std::thread other([&] { run(there, until_told(to_here)); });
    external_loop loop(here);
    for (const std::size_t size : {std::size_t{8}, std::size_t{300'000}}) {
      CAPTURE(size);
      const std::vector<std::byte> args(size, std::byte{5});
      std::vector<std::byte> reply(size);
      by_call_loop<raw_call_operation> one(to_there.call(echo_number, args, reply));
      CHECK_FALSE(loop.start(one));
      CHECK(ends_in_call_loop(loop, one));
      CHECK((reply == args));
    }
    const std::byte last{};
    while (!external_loop::progress_guard(loop).try_send(to_there, {&last, 1}, tag{2}))
      external_loop::progress_guard(loop).poll();
    other.join();
  });
}

TEST_CASE("external loop: it serves a call that came before the loop did") {
  within_half_a_minute("a call from before the loop", [] {
    context here(end_of_call_pair(progress_mode::dedicated));
    context there(end_of_call_pair(progress_mode::polling));
    const handler echo = here.on(echo_number, echo_of_call);
    const endpoint to_here = peer_at(there, context_address_of(here));
    std::vector<std::byte> reply(300'000);
    std::thread other([&] { run(there, call_and_tell(to_here, reply)); });
    // The progress thread takes the call, and no thread completes it.
    while (here.snapshot().unexpected_messages == 0) std::this_thread::yield();
    {
      external_loop loop(here);
      std::byte last{};
      by_call_loop<recv_operation> end(
          peer_at(here, context_address_of(there)).recv({&last, 1}, tag{4}));
      CHECK_FALSE(loop.start(end));
      CHECK(ends_in_call_loop(loop, end));
    }
    other.join();
    CHECK((reply == std::vector<std::byte>(300'000, std::byte{7})));
  });
}
