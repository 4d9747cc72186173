// SPDX-License-Identifier: Apache-2.0
// Calls under an external loop, which completes operations with the progress lock held. A call that
// took the lock again would wait for its own thread for ever: each test gives its loop a thread,
// and half a minute.
#include <catch2/catch.hpp>

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

/// A call with its memory, and whether it has ended.
struct call_by_loop : detail::raw_call_operation {
  call_by_loop(const endpoint& to, const_buffer args, mutable_buffer reply)
      : raw_call_operation(to.call(echo_number, args, reply), [](operation& op) noexcept {
          static_cast<call_by_loop&>(op).ended = true;
        }) {}
  bool ended = false;
};

bool call_has_ended(void* op) { return static_cast<call_by_loop*>(op)->ended; }

task<void> echo_of_call(weft::call c) {
  std::vector<std::byte> body(c.size());
  co_await c.recv(body);
  co_await c.reply(body);
}

task<void> until_told(endpoint loop) {
  std::byte last{};
  co_await loop.recv({&last, 1}, tag{2});
}

/// Calls, and a message behind the call.
task<void> call_and_tell(endpoint loop, std::vector<std::byte>& reply) {
  const std::vector<std::byte> args(reply.size(), std::byte{7});
  scope both;
  both.start(loop.call(echo_number, args, reply));
  std::byte behind{};
  both.start(loop.send({&behind, 1}, tag{2}));
  co_await both.join();
}

bool was_served(void* of) { return static_cast<context*>(of)->snapshot().calls_served == 1; }

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
      call_by_loop one(to_there, args, reply);
      CHECK_FALSE(loop.start(one));
      CHECK(loop.wait(std::chrono::steady_clock::now() + 30s, call_has_ended, &one));
      CHECK(one.status == errc::ok);
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
      CHECK(loop.wait(std::chrono::steady_clock::now() + 30s, was_served, &here));
      other.join();
    }
    CHECK((reply == std::vector<std::byte>(300'000, std::byte{7})));
  });
}
