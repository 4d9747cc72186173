// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/dump_signal.hpp"

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <mutex>
#include <utility>

#include "runtime/os/own_thread.hpp"

namespace weft::runtime {

namespace {

constexpr std::size_t signals = 32;

// Signals and their handlers belong to the process, not to an object: so does what they use.
std::array<std::atomic<std::uint32_t>, signals> asked;  // how often each signal has come
std::atomic<std::uint32_t> bell;                        // changes with each of them; threads wait
std::atomic<pid_t> owner;                               // the process that has the threads

struct installation {
  unsigned users = 0;
  struct sigaction before {};
};
std::mutex installing;
std::array<installation, signals> installed;  // guarded by `installing`

/// Called by the handler, too: no lock, no memory.
void ring() noexcept {
  bell.fetch_add(1);
  ::syscall(SYS_futex, &bell, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void wait_while(std::uint32_t value) noexcept {
  ::syscall(SYS_futex, &bell, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

std::atomic<std::uint32_t>& count_of(int number) noexcept {
  return asked[static_cast<std::size_t>(number)];
}

void on_dump_signal(int number) {
  const int fault = errno;
  if (::getpid() == owner.load()) {
    count_of(number).fetch_add(1);
    ring();
  } else {
    ::signal(number, SIG_DFL);
    ::raise(number);
  }
  errno = fault;
}

bool is_ours(const struct sigaction& a) noexcept {
  return (a.sa_flags & SA_SIGINFO) == 0 && a.sa_handler == &on_dump_signal;
}

/// \return false: the application has a handler
bool install(int number) noexcept {
  const std::lock_guard lock(installing);
  installation& at = installed[static_cast<std::size_t>(number)];
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  owner.store(::getpid());  // a child of a fork has a handler, and no thread
  if (!is_ours(now)) {
    const bool free = (now.sa_flags & SA_SIGINFO) == 0 &&
                      (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
    if (!free) return false;
    struct sigaction wanted {};
    wanted.sa_handler = &on_dump_signal;
    wanted.sa_flags = SA_RESTART;
    ::sigemptyset(&wanted.sa_mask);
    ::sigaction(number, &wanted, &at.before);
  }
  ++at.users;
  return true;
}

void uninstall(int number) noexcept {
  const std::lock_guard lock(installing);
  installation& at = installed[static_cast<std::size_t>(number)];
  if (--at.users != 0) return;
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  if (is_ours(now)) ::sigaction(number, &at.before, nullptr);
}

}  // namespace

dump_signal::dump_signal(int number, std::function<void()> act)
    : number_(number), act_(std::move(act)), installed_(install(number)) {
  if (!installed_) return;
  seen_ = count_of(number_).load();
  try {
    thread_ = start_own_thread("weft-dump", "thread for dumps", [this] { loop(); });
  } catch (...) {
    uninstall(number_);
    throw;
  }
}

dump_signal::~dump_signal() {
  if (!installed_) return;
  uninstall(number_);
  exit_gate_.open_for_good();
  stopping_.store(true);
  ring();
  thread_.join();
}

/// The bell is read first: what comes afterwards changes it, and so ends the wait.
void dump_signal::loop() noexcept {
  for (;;) {
    const std::uint32_t rung = bell.load();
    if (stopping_.load()) return;
    if (const std::uint32_t all = count_of(number_).load(); all != std::exchange(seen_, all)) {
      exit_gate_.begin_work();
      act_();
      exit_gate_.end_work();
    } else {
      wait_while(rung);
    }
  }
}

}  // namespace weft::runtime
