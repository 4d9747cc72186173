// SPDX-License-Identifier: Apache-2.0
// Progress while the application computes.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

task<void> sleep_on(pool& p, std::atomic<int>& stage) {
  co_await resume_on(p);
  stage = 1;
  co_await sleep_for(100ms);
  stage = 2;
}

/// Computes from before that timer is due until it has ended, or for a time limit.
task<void> compute(std::atomic<int>& stage, bool& seen) {
  while (stage == 0) co_await sleep_for(1ms);
  co_await sleep_for(10ms);
  const auto patience = std::chrono::steady_clock::now() + 20s;
  while (stage != 2 && std::chrono::steady_clock::now() < patience) {
  }
  seen = stage == 2;
}

// More than eager data, and a rest that fits into the link without being read.
constexpr std::size_t large = std::size_t{120} << 10;

/// The state that the two sides of the next test share besides their messages.
struct shared_view {
  std::string address;
  std::atomic<bool> open = false;
  std::atomic<bool> posted = false;           // the receive for the large message
  std::atomic<bool> sender_computes = false;  // it computes, and has begun to send the message
  std::atomic<bool> has_left = false;
};

/// Computes for a while.
void compute(std::chrono::nanoseconds how_long) {
  const auto end = std::chrono::steady_clock::now() + how_long;
  while (std::chrono::steady_clock::now() < end) {
  }
}

bool comes_true(const std::atomic<bool>& what) {
  for (int i = 0; i < 20'000 && !what; ++i) compute(1ms);
  return what;
}

task<void> send_and_compute(context& ctx, shared_view& v) {
  endpoint to = co_await ctx.connect(v.address);
  const std::vector<std::byte> all(large);
  std::byte in{};
  co_await to.send(const_buffer{}, tag{1});
  co_await to.recv({&in, 1}, tag{1});
  comes_true(v.posted);
  scope fly;
  fly.start(to.send(all, tag{2}));
  fly.start(to.send(const_buffer{}, tag{3}));
  v.sender_computes = true;
  comes_true(v.has_left);
  co_await fly.join();
}

task<void> receive_and_compute(context& ctx, const context& sender, shared_view& v) {
  listener listening = co_await ctx.listen("any://127.0.0.1:0");
  v.address = listening.address();
  v.open = true;
  endpoint from = co_await listening.accept();
  std::vector<std::byte> all(large);
  std::byte in{};
  co_await from.recv({&in, 1}, tag{1});
  co_await from.send(const_buffer{}, tag{1});
  scope fly;
  fly.start(from.recv(all, tag{2}));
  v.posted = true;
  comes_true(v.sender_computes);
  // The pass that brings this message brings the beginning of the large one first, and asks for the
  // rest.
  co_await from.recv({&in, 1}, tag{3});
  for (int i = 0; i < 20'000 && sender.snapshot().messages_sent != 3; ++i) compute(1ms);
  CHECK(sender.snapshot().messages_sent == 3);
  v.has_left = true;
  co_await fly.join();
}

}  // namespace

TEST_CASE("who asks for the rest of a message and then computes wakes a sender that computes") {
  options o;
  o.experimental.shm_copy = "pipeline";
  context sending(o);
  o.progress = progress_mode::polling;
  context receiving(o);
  shared_view v;
  std::thread other([&] {
    if (comes_true(v.open)) run(sending, send_and_compute(sending, v));
  });
  run(receiving, receive_and_compute(receiving, sending, v));
  other.join();
}

TEST_CASE("a timer of a chain on a pool ends while the application computes") {
  pool workers(1);
  context ctx;
  std::atomic<int> stage = 0;
  bool seen = false;
  spawn(ctx, sleep_on(workers, stage));
  run(ctx, compute(stage, seen));
  CHECK(seen);
}
