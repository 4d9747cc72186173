// SPDX-License-Identifier: Apache-2.0
// Many descriptors, many threads, many sets.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

#include "support/descriptors.hpp"
#include "wait_set_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using namespace weft::runtime;
using namespace weft::runtime::test;
using std::chrono::steady_clock;

}  // namespace

TEST_CASE_METHOD(each_wait_set, "500 descriptors, each told once", "[wait_set]") {
  std::deque<counter> all(500);
  for (auto& w : all) set->add(w.bell.fd(), EPOLLIN, w);
  CHECK(set->poll() == 0);
  for (auto& w : all) w.bell.ring();
  for (unsigned told = 0; told < all.size();) told += set->wait(never);
  CHECK(set->wait(steady_clock::now()) == 0);
  for (auto& w : all) REQUIRE(w.told == 1);
}

namespace {

/// Lets a test open more descriptors than a shell allows by default.
class many_files {
 public:
  many_files() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit raised{before_.rlim_max, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &raised);
  }
  many_files(const many_files&) = delete;
  many_files& operator=(const many_files&) = delete;
  ~many_files() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  bool allow(std::size_t count) const {
    if (before_.rlim_max >= count) return true;
    WARN("skipped: the hard limit on open files is " << before_.rlim_max);
    return false;
  }

 private:
  rlimit before_{};
};

constexpr std::size_t more_than_fit = 3000;

}  // namespace

TEST_CASE_METHOD(each_wait_set, "more ready at once than results fit", "[wait_set]") {
  const many_files limit;
  if (!limit.allow(more_than_fit + 200)) return;
  const bool reads = GENERATE(true, false);
  std::deque<counter> all;
  for (std::size_t i = 0; i < more_than_fit; ++i) all.emplace_back(reads);
  for (auto& w : all) set->add(w.bell.fd(), EPOLLIN, w);
  CHECK(set->poll() == 0);
  const auto all_told = [&](unsigned times) {
    return std::all_of(all.begin(), all.end(), [&](const auto& w) { return w.told >= times; });
  };
  for (unsigned times = 1; times <= 3; ++times) {
    for (auto& w : all) w.bell.ring();
    while (!all_told(times)) set->wait(never);
  }
  for (auto& w : all) set->remove(w.bell.fd());
  CHECK(set->wait(steady_clock::now() + 1ms) == 0);
}

TEST_CASE_METHOD(each_wait_set, "polling alone hears all, even those kept aside", "[wait_set]") {
  const many_files limit;
  if (!limit.allow(more_than_fit + 200)) return;
  struct once final : fd_watcher {
    void on_ready(std::uint32_t) noexcept override {
      ++told;
      set->remove(bell.fd());
    }
    wait_set* set = nullptr;
    event_fd bell;
    unsigned told = 0;
  };
  std::deque<once> all(more_than_fit);
  for (once& w : all) {
    w.set = set.get();
    w.bell.ring();
    set->add(w.bell.fd(), EPOLLIN, w);
  }
  for (std::size_t told = 0; told < all.size();) told += set->poll();
  CHECK(set->poll() == 0);
  CHECK(std::all_of(all.begin(), all.end(), [](const once& w) { return w.told == 1; }));
}

TEST_CASE_METHOD(each_wait_set, "the thread that added, or waited, may exit", "[wait_set]") {
  std::deque<counter> all(10);
  std::thread([&] {
    for (auto& w : all) set->add(w.bell.fd(), EPOLLIN, w);
    set->poll();
    set->wait(steady_clock::now() + 1ms);
  }).join();
  CHECK(set->wait(steady_clock::now() + 1ms) == 0);
  CHECK(set->poll() == 0);
  for (auto& w : all) w.bell.ring();
  for (unsigned told = 0; told < all.size();) told += set->wait(never);
  for (auto& w : all) CHECK(w.told == 1);
  // The same for the descriptor behind wake().
  std::thread([&] { set->wait(steady_clock::now()); }).join();
  set->wake();
  CHECK(set->wait(never) == 0);
}

TEST_CASE_METHOD(each_wait_set, "the armer exits while another thread sleeps", "[wait_set]") {
  counter w;
  std::atomic<bool> armed = false;
  std::atomic<bool> leave = false;
  std::thread armer([&] {
    set->add(w.bell.fd(), EPOLLIN, w);
    set->poll();
    armed = true;
    while (!leave) std::this_thread::yield();
  });
  while (!armed) std::this_thread::yield();
  std::thread ringer([&] {
    leave = true;
    armer.join();
    w.bell.ring();
  });
  CHECK(set->wait(never) == 1);
  CHECK(w.told == 1);
  ringer.join();
}

TEST_CASE_METHOD(each_wait_set, "what a computing thread armed wakes the one that waits",
                 "[wait_set]") {
  counter w;
  std::atomic<bool> armed = false;
  std::atomic<bool> done = false;
  std::thread computing([&] {
    set->add(w.bell.fd(), EPOLLIN, w);
    set->poll();
    armed = true;
    while (!done) {  // without system calls
    }
  });
  while (!armed) std::this_thread::yield();
  std::thread ringer([&] { w.bell.ring(); });
  CHECK(set->wait(never) == 1);
  done = true;
  computing.join();
  ringer.join();
}

TEST_CASE_METHOD(each_wait_set, "hundreds of sets leak no descriptor", "[wait_set]") {
  counter w;
  const std::size_t before = tests::open_descriptors();
  for (int i = 0; i < 200; ++i) {
    set = make_wait_set(kind).set;
    for (int j = 0; j < 20; ++j) {
      set->add(w.bell.fd(), EPOLLIN, w);
      if (j % 3 != 0) set->poll();
      set->remove(w.bell.fd());
    }
    set->poll();
  }
  CHECK(w.told == 0);
  CHECK(tests::open_descriptors() == before);
}
