// SPDX-License-Identifier: Apache-2.0
// Both wait sets keep the same promises. A test that does not end has found a lost wake-up.
#include "runtime/wait_set.hpp"

#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <weft/error.hpp>

#include "runtime/event_fd.hpp"

namespace {

using namespace std::chrono_literals;
using namespace weft::runtime;
using std::chrono::steady_clock;

constexpr time_point never = time_point::max();

bool have_uring() {
  try {
    make_uring_wait_set();
    return true;
  } catch (const weft::error& e) {
    WARN("skipped for io_uring: " << e.what());
    return false;
  }
}

/// A test with this fixture runs once for each wait set that can be had here.
struct each_wait_set {
  std::string kind = have_uring() ? GENERATE(as<std::string>(), "uring", "epoll") : "epoll";
  Catch::ScopedMessage named{
      Catch::MessageBuilder("", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info) << kind};
  std::unique_ptr<wait_set> set = make_wait_set(kind).set;
};

/// Counts, and reads only when it is told to.
class bell_watcher final : public fd_watcher {
 public:
  explicit bell_watcher(bool reads = true) : reads_(reads) {}

  void on_ready(std::uint32_t events) noexcept override {
    ++told;
    last = events;
    if (reads_) bell.drain();
  }

  event_fd bell;
  unsigned told = 0;
  std::uint32_t last = 0;

 private:
  bool reads_;
};

unsigned open_descriptors() {
  unsigned count = 0;
  DIR* dir = ::opendir("/proc/self/fd");
  while (::readdir(dir) != nullptr) ++count;
  ::closedir(dir);
  return count;
}

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

TEST_CASE("an unknown wait set is named in the error", "[wait_set]") {
  try {
    make_wait_set("kqueue");
    FAIL("no error");
  } catch (const weft::error& e) {
    CHECK(e.kind() == weft::errc::invalid_argument);
    CHECK_THAT(e.what(), Catch::Contains("kqueue"));
  }
}

TEST_CASE_METHOD(each_wait_set, "ready before the wait", "[wait_set]") {
  bell_watcher w;
  w.bell.ring();
  set->add(w.bell.fd(), EPOLLIN, w);
  CHECK(set->wait(never) == 1);
  CHECK(w.told == 1);
  CHECK(w.last == EPOLLIN);
}

TEST_CASE_METHOD(each_wait_set, "ready during the wait, told by another thread", "[wait_set]") {
  bell_watcher there;
  bell_watcher back;
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
  bell_watcher w;
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
  bell_watcher w;
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
  bell_watcher w;
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
  ::pthread_kill(sleeper.native_handle(), SIGUSR1);
  sleeper.join();
  woken_by_signal = nullptr;
  ::sigaction(SIGUSR1, &before, nullptr);
  CHECK(returned);
}

TEST_CASE_METHOD(each_wait_set, "what was left unread is told again", "[wait_set]") {
  bell_watcher w(false);
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
  set->wait(steady_clock::now());  // may tell once more what was true when it was asked
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
  bell_watcher w(false);
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
  bell_watcher w;
  set->add(w.bell.fd(), EPOLLIN, w);
  CHECK(set->poll() == 0);  // armed
  w.bell.ring();            // under way
  set->remove(w.bell.fd());
  CHECK(set->poll() == 0);
  CHECK(set->wait(steady_clock::now() + 1ms) == 0);
  CHECK(w.told == 0);
  set->remove(w.bell.fd());  // twice is harmless
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
    bell_watcher w;
    set->add(near.get(), EPOLLIN, w);
    CHECK(set->poll() == 0);
    set->remove(near.get());
  }
  char c = 0;
  CHECK(::read(far.get(), &c, 1) == 0);  // would block for ever
}

TEST_CASE_METHOD(each_wait_set, "a descriptor number that is used again belongs to the new watcher",
                 "[wait_set]") {
  auto old = std::make_unique<bell_watcher>();
  const int number = old->bell.fd();
  set->add(number, EPOLLIN, *old);
  CHECK(set->poll() == 0);
  old->bell.ring();
  set->remove(number);
  old.reset();
  bell_watcher fresh;
  REQUIRE(fresh.bell.fd() == number);
  set->add(number, EPOLLIN, fresh);
  CHECK(set->wait(steady_clock::now() + 1ms) == 0);
  CHECK(fresh.told == 0);
  fresh.bell.ring();
  CHECK(set->wait(never) == 1);
  CHECK(fresh.told == 1);
}

TEST_CASE_METHOD(each_wait_set, "bad descriptors are refused when they are added", "[wait_set]") {
  bell_watcher w;
  CHECK_THROWS_AS(set->add(-1, EPOLLIN, w), weft::error);
  CHECK_THROWS_AS(set->add(1'000'000, EPOLLIN, w), weft::error);
  set->add(w.bell.fd(), EPOLLIN, w);
  CHECK_THROWS_AS(set->add(w.bell.fd(), EPOLLIN, w), weft::error);
  w.bell.ring();
  CHECK(set->wait(never) == 1);
}

TEST_CASE_METHOD(each_wait_set, "500 descriptors, each told once", "[wait_set]") {
  std::deque<bell_watcher> all(500);
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
  std::deque<bell_watcher> all;
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
  std::deque<bell_watcher> all(10);
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
  // The same for the bell behind wake().
  std::thread([&] { set->wait(steady_clock::now()); }).join();
  set->wake();
  CHECK(set->wait(never) == 0);
}

TEST_CASE_METHOD(each_wait_set, "the armer exits while another thread sleeps", "[wait_set]") {
  bell_watcher w;
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
  bell_watcher w;
  std::atomic<bool> armed = false;
  std::atomic<bool> done = false;
  std::thread computing([&] {
    set->add(w.bell.fd(), EPOLLIN, w);
    set->poll();
    armed = true;
    while (!done) {  // enters no kernel
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
  bell_watcher w;
  const unsigned before = open_descriptors();
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
  CHECK(open_descriptors() == before);
}

namespace {

/// Makes one system call of this process fail from now on.
bool forbid(std::uint32_t call, std::uint32_t code) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Runs f in a child; its exit code, or -1 if it crashed.
template <class F>
int in_a_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool works(wait_set& set) {
  bell_watcher w;
  set.add(w.bell.fd(), EPOLLIN, w);
  const auto deadline = steady_clock::now() + 1ms;
  if (set.wait(deadline) != 0 || steady_clock::now() < deadline) return false;
  w.bell.ring();
  return set.wait(steady_clock::now() + 1h) == 1;
}

}  // namespace

TEST_CASE("where io_uring is forbidden, auto takes epoll and says why", "[wait_set]") {
  const std::uint32_t call = GENERATE(as<std::uint32_t>(), SYS_io_uring_setup, SYS_io_uring_enter);
  const std::uint32_t code = GENERATE(as<std::uint32_t>(), EPERM, ENOSYS, ENOMEM);
  CAPTURE(call, code);
  CHECK(in_a_child([&] {
          if (!forbid(call, code)) return 2;
          const unsigned before = open_descriptors();
          try {
            make_wait_set("uring");
            return 3;
          } catch (const weft::error& e) {
            if (e.kind() != weft::errc::unsupported) return 4;
          }
          if (open_descriptors() != before) return 5;
          const auto choice = make_wait_set("auto");
          if (choice.set->name() != std::string("epoll")) return 6;
          if (choice.reason.empty()) return 7;
          return works(*choice.set) ? 0 : 8;
        }) == 0);
}

TEST_CASE("epoll keeps its deadlines where epoll_pwait2 is unknown", "[wait_set]") {
  const std::uint32_t code = GENERATE(as<std::uint32_t>(), EPERM, ENOSYS);
  CHECK(in_a_child([&] {
          if (!forbid(SYS_epoll_pwait2, code)) return 2;
          return works(*make_wait_set("epoll").set) ? 0 : 3;
        }) == 0);
}

TEST_CASE("auto gives what works here", "[wait_set]") {
  const auto choice = make_wait_set("auto");
  CHECK((choice.set->name() == std::string("uring")) == choice.reason.empty());
  CHECK(works(*choice.set));
}
