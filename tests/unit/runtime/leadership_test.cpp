// SPDX-License-Identifier: Apache-2.0
// Which of several threads inside run() is the leader. For every order see
// tests/models/followers.pml.
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "runtime/lock/leadership.hpp"
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

TEST_CASE("leadership: a follower sleeps while the ends of others come") {
  const progress_lock lock;
  leadership place(lock);
  std::atomic<bool> done{false}, follows{false};
  long switches = 0;
  REQUIRE(place.try_take());
  std::thread follower([&] {
    follows = true;
    follows.notify_one();
    CHECK(place.take(done) == outcome::done);
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    switches = used.ru_nvcsw;
  });
  follows.wait(false);
  for (int end = 0; end != 2000; ++end) {
    place.notify_followers();
    std::this_thread::yield();
  }
  done = true;
  place.notify_followers();
  follower.join();
  CHECK(switches < 200);
}

TEST_CASE("leadership: one follower leads next, and others that are done go on") {
  const progress_lock lock;
  leadership place(lock);
  std::atomic<bool> done{false}, leads{false}, over{false};
  const std::atomic<bool> never{false};
  REQUIRE(place.try_take());
  const auto lead = [&] {
    CHECK(place.take(never) == outcome::leads);
    CHECK_FALSE(leads.exchange(true));
    leads.notify_one();
    over.wait(false);
    leads = false;
    place.resign();
  };
  std::thread first(lead), second(lead), third([&] {
    if (place.take(done) == outcome::leads) place.resign();  // it came late
  });
  place.resign();
  leads.wait(false);
  done = true;
  place.notify_followers();
  third.join();
  over = true;
  over.notify_all();
  first.join();
  second.join();
  CHECK_FALSE(place.is_taken());
}
