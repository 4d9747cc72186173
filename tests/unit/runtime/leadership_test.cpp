// SPDX-License-Identifier: Apache-2.0
// Which of several threads inside run() is the leader. For every order see
// tests/models/followers.pml.
#include <atomic>
#include <thread>

#include "runtime/leadership.hpp"
#include "support/catch.hpp"

using weft::runtime::leadership;
using weft::runtime::progress_lock;
using outcome = leadership::outcome;

TEST_CASE("leadership: one thread leads, and may take the place again") {
  const progress_lock lock;
  leadership place(lock);
  const std::atomic<bool> never{false};
  CHECK_FALSE(place.is_taken());
  CHECK(place.take(never) == outcome::leads);
  CHECK(place.take(never) == outcome::leads_already);
  CHECK(place.is_taken());
  std::thread([&] { CHECK_FALSE(place.try_take()); }).join();
  place.resign();
  std::thread([&] {
    CHECK(place.try_take());
    place.resign();
  }).join();
}

TEST_CASE("leadership: a follower goes on when it is done, or when the place is free") {
  const progress_lock lock;
  leadership place(lock);
  std::atomic<bool> done{false};
  const std::atomic<bool> never{false};
  REQUIRE(place.try_take());
  outcome of_done{}, of_heir{};
  std::thread follower([&] { of_done = place.take(done); });
  done = true;
  place.notify_followers();
  follower.join();
  CHECK(of_done == outcome::done);

  std::thread heir([&] {
    of_heir = place.take(never);
    place.resign();
  });
  place.resign();
  heir.join();
  CHECK(of_heir == outcome::leads);
}
