// SPDX-License-Identifier: Apache-2.0
// Both wait sets have the same guarantees. A test that does not end has found a lost wake-up.
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <deque>
#include <thread>

#include "wait_set_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using namespace weft::runtime;
using namespace weft::runtime::test;
using std::chrono::steady_clock;

/// poll() with io_uring may need a moment: another thread's interrupt delivers the event.
unsigned poll_until_told(wait_set& set) {
  for (;;) {
    if (const unsigned told = set.poll()) return told;
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE_METHOD(each_wait_set, "a wait set says which it is", "[wait_set]") {
  CHECK(set->name() == kind);
}

TEST_CASE_METHOD(each_wait_set, "ready before the wait", "[wait_set]") {
  counter w;
  w.bell.ring();
  set->add(w.bell.fd(), EPOLLIN, w);
  CHECK(set->wait(never) == 1);
  CHECK(w.told == 1);
  CHECK(w.last == EPOLLIN);
}

TEST_CASE_METHOD(each_wait_set, "ready during the wait, told by another thread", "[wait_set]") {
  counter there;
  counter back;
  set->add(there.bell.fd(), EPOLLIN, there);
  const auto other = make_epoll_wait_set();
  other->add(back.bell.fd(), EPOLLIN, back);
  constexpr unsigned rounds = 1000;
  std::thread echo([&] {
    for (unsigned i = 0; i < rounds; ++i) {
      there.bell.ring();
      other->wait(never);
    }
  });
  for (unsigned i = 0; i < rounds; ++i) {
    CHECK(set->wait(never) == 1);
    back.bell.ring();
  }
  echo.join();
  CHECK(there.told == rounds);
  CHECK(back.told == rounds);
}

TEST_CASE_METHOD(each_wait_set, "poll tells without sleeping", "[wait_set]") {
  counter w;
  set->add(w.bell.fd(), EPOLLIN, w);
  CHECK(set->poll() == 0);
  w.bell.ring();
  CHECK(poll_until_told(*set) == 1);
  CHECK(w.told == 1);
  CHECK(set->poll() == 0);
  w.bell.ring();
  poll_until_told(*set);
  CHECK(w.told == 2);
}

TEST_CASE_METHOD(each_wait_set, "a wait ends at its deadline and not before", "[wait_set]") {
  counter w;
  set->add(w.bell.fd(), EPOLLIN, w);
  const auto pause = GENERATE(0ns, 1ns, 300us, 2ms, 1500us);
  const auto deadline = steady_clock::now() + pause;
  CHECK(set->wait(deadline) == 0);
  CHECK(steady_clock::now() >= deadline);
  CHECK(set->wait(steady_clock::now() - 1h) == 0);
  CHECK(set->wait(time_point::min()) == 0);
  CHECK(w.told == 0);
}

TEST_CASE_METHOD(each_wait_set, "a wait far from its deadline still hears", "[wait_set]") {
  counter w;
  set->add(w.bell.fd(), EPOLLIN, w);
  std::thread ringer([&] { w.bell.ring(); });
  const auto deadline = GENERATE(never - 1ns, steady_clock::now() + 24h * 365);
  CHECK(set->wait(deadline) == 1);
  ringer.join();
}

TEST_CASE_METHOD(each_wait_set, "wake before and during a wait", "[wait_set]") {
  set->wake();
  set->wake();
  CHECK(set->wait(never) == 0);  // both wakes count as one
  const auto deadline = steady_clock::now() + 1ms;
  CHECK(set->wait(deadline) == 0);
  CHECK(steady_clock::now() >= deadline);
  std::thread waker([&] { set->wake(); });
  CHECK(set->wait(never) == 0);
  waker.join();
}

TEST_CASE_METHOD(each_wait_set, "poll leaves a wake for the next wait", "[wait_set]") {
  set->wake();
  for (int i = 0; i < 100; ++i) CHECK(set->poll() == 0);
  CHECK(set->wait(never) == 0);
}

TEST_CASE_METHOD(each_wait_set, "no wake is lost, however often", "[wait_set]") {
  std::atomic<unsigned> asked = 0;
  std::atomic<unsigned> seen = 0;
  constexpr unsigned rounds = 5000;
  std::thread waker([&] {
    for (unsigned i = 1; i <= rounds; ++i) {
      asked = i;
      set->wake();
      while (seen.load() < i) std::this_thread::yield();
    }
  });
  while (seen < rounds) {
    set->wait(never);
    seen = asked.load();
  }
  waker.join();
  CHECK(seen == rounds);
}

namespace {
std::atomic<wait_set*> woken_by_signal = nullptr;
}

TEST_CASE_METHOD(each_wait_set,
                 "wake from a signal handler, and a signal alone does not end a wait",
                 "[wait_set]") {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {
    if (wait_set* s = woken_by_signal) s->wake();
  };
  ::sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> returned = false;
  std::thread sleeper([&] {
    set->wait(never);
    returned = true;
  });
  for (int i = 0; i < 100; ++i) ::pthread_kill(sleeper.native_handle(), SIGUSR1);
  CHECK_FALSE(returned);
  woken_by_signal = set.get();
  // Once is enough for the kernel. ThreadSanitizer delays a signal that comes outside of a call
  // that it knows, and delivers it with the next one.
  while (!returned) {
    ::pthread_kill(sleeper.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  sleeper.join();
  woken_by_signal = nullptr;
  ::sigaction(SIGUSR1, &before, nullptr);
  CHECK(returned);
}

TEST_CASE_METHOD(each_wait_set, "what was left unread is told again", "[wait_set]") {
  counter w(false);
  w.bell.ring();
  set->add(w.bell.fd(), EPOLLIN, w);
  for (unsigned i = 1; i <= 5; ++i) {
    CHECK(set->wait(never) == 1);
    CHECK(w.told == i);
  }
  poll_until_told(*set);
  poll_until_told(*set);
  CHECK(w.told == 7);
  w.bell.drain();
  set->wait(steady_clock::now());  // may report once more what was true when it was armed
  const unsigned so_far = w.told;
  CHECK(set->wait(steady_clock::now() + 1ms) == 0);
  CHECK(w.told == so_far);
}

TEST_CASE_METHOD(each_wait_set, "a half-read stream is told again, and its end too", "[wait_set]") {
  int ends[2] = {-1, -1};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  unique_fd near(ends[0]);
  unique_fd far(ends[1]);
  struct : fd_watcher {
    void on_ready(std::uint32_t events) noexcept override {
      last = events;
      char c = 0;
      if (::read(fd, &c, 1) == 1) text += c;
    }
    int fd = -1;
    std::uint32_t last = 0;
    std::string text;
  } w;
  w.fd = near.get();
  set->add(near.get(), EPOLLIN | EPOLLRDHUP, w);
  REQUIRE(::write(far.get(), "weft", 4) == 4);
  while (w.text.size() < 4) set->wait(never);
  CHECK(w.text == "weft");
  far = unique_fd();
  while ((w.last & EPOLLRDHUP) == 0) set->wait(never);
  CHECK((w.last & EPOLLHUP) != 0);
}

TEST_CASE_METHOD(each_wait_set, "writable and readable are told apart", "[wait_set]") {
  counter w(false);
  set->add(w.bell.fd(), EPOLLIN | EPOLLOUT, w);
  CHECK(set->wait(never) == 1);
  CHECK(w.last == EPOLLOUT);
  w.bell.ring();
  while (set->wait(never) != 1 || (w.last & EPOLLIN) == 0) {
  }
  CHECK(w.last == (EPOLLIN | EPOLLOUT));
}

TEST_CASE_METHOD(each_wait_set, "a removed descriptor is silent, even with an event pending",
                 "[wait_set]") {
  counter w;
  set->add(w.bell.fd(), EPOLLIN, w);
  CHECK(set->poll() == 0);  // armed
  w.bell.ring();            // under way
  set->remove(w.bell.fd());
  CHECK(set->poll() == 0);
  CHECK(set->wait(steady_clock::now() + 1ms) == 0);
  CHECK(w.told == 0);
  set->remove(w.bell.fd());  // the second call has no effect
  set->remove(-1);
  set->add(w.bell.fd(), EPOLLIN, w);
  CHECK(set->wait(never) == 1);
}

TEST_CASE_METHOD(each_wait_set, "watchers may remove each other and themselves", "[wait_set]") {
  struct remover final : fd_watcher {
    void on_ready(std::uint32_t) noexcept override {
      ++told;
      for (const remover& r : *all) set->remove(r.bell.fd());
    }
    wait_set* set = nullptr;
    std::deque<remover>* all = nullptr;
    event_fd bell;
    unsigned told = 0;
  };
  std::deque<remover> all(20);
  for (remover& r : all) {
    r.set = set.get();
    r.all = &all;
    r.bell.ring();
    set->add(r.bell.fd(), EPOLLIN, r);
  }
  CHECK(set->wait(never) == 1);
  CHECK(set->wait(steady_clock::now() + 1ms) == 0);
  unsigned told = 0;
  for (const remover& r : all) told += r.told;
  CHECK(told == 1);
}

TEST_CASE_METHOD(each_wait_set, "a watcher may fall silent and come back", "[wait_set]") {
  struct : fd_watcher {
    void on_ready(std::uint32_t) noexcept override {
      ++told;
      set->remove(bell.fd());
    }
    wait_set* set = nullptr;
    event_fd bell;
    unsigned told = 0;
  } w;
  w.set = set.get();
  w.bell.ring();
  for (unsigned i = 1; i <= 100; ++i) {
    set->add(w.bell.fd(), EPOLLIN, w);
    CHECK(set->wait(never) == 1);
    CHECK(w.told == i);
    CHECK(set->wait(steady_clock::now()) == 0);
  }
}

TEST_CASE_METHOD(each_wait_set, "a removed file is let go: its peer sees the close", "[wait_set]") {
  int ends[2] = {-1, -1};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  unique_fd far(ends[1]);
  {
    unique_fd near(ends[0]);
    counter w;
    set->add(near.get(), EPOLLIN, w);
    CHECK(set->poll() == 0);
    set->remove(near.get());
  }
  char c = 0;
  CHECK(::read(far.get(), &c, 1) == 0);  // would block for ever
}

TEST_CASE_METHOD(each_wait_set, "a descriptor number that is used again belongs to the new watcher",
                 "[wait_set]") {
  auto old = std::make_unique<counter>();
  const int number = old->bell.fd();
  set->add(number, EPOLLIN, *old);
  CHECK(set->poll() == 0);
  old->bell.ring();
  set->remove(number);
  old.reset();
  counter fresh;
  REQUIRE(fresh.bell.fd() == number);
  set->add(number, EPOLLIN, fresh);
  CHECK(set->wait(steady_clock::now() + 1ms) == 0);
  CHECK(fresh.told == 0);
  fresh.bell.ring();
  CHECK(set->wait(never) == 1);
  CHECK(fresh.told == 1);
}

TEST_CASE_METHOD(each_wait_set, "bad descriptors are refused when they are added", "[wait_set]") {
  counter w;
  CHECK_THROWS_AS(set->add(-1, EPOLLIN, w), weft::error);
  CHECK_THROWS_AS(set->add(1'000'000, EPOLLIN, w), weft::error);
  set->add(w.bell.fd(), EPOLLIN, w);
  CHECK_THROWS_AS(set->add(w.bell.fd(), EPOLLIN, w), weft::error);
  w.bell.ring();
  CHECK(set->wait(never) == 1);
}
