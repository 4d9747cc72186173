// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/objects/sleeper.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <weft/error.hpp>

namespace weft::ofi {

using std::chrono::steady_clock;

namespace {

int checked(int fd) {
  if (fd < 0)
    throw error(errc::system,
                "no descriptor to sleep on; raise the limit on open files (ulimit -n)");
  return fd;
}

void watch(int epoll, int fd) {
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.fd = fd;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0)
    throw error(errc::system, "epoll_ctl failed for a descriptor to sleep on");
}

/// The steady clock is CLOCK_MONOTONIC.
void set(int timer, steady_clock::time_point when) noexcept {
  itimerspec at{};
  const auto ns = std::chrono::nanoseconds(when.time_since_epoch()).count();
  if (when != steady_clock::time_point::max()) {
    at.it_value.tv_sec = ns / 1'000'000'000;
    at.it_value.tv_nsec = ns % 1'000'000'000;
  }
  ::timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, nullptr);
}

}  // namespace

sleeper::~sleeper() {
  for (const int fd : {epoll_, timer_, signal_})
    if (fd >= 0) ::close(fd);
}

void sleeper::open() {
  if (epoll_ >= 0) return;
  if (timer_ < 0) timer_ = checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (signal_ < 0) signal_ = checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int made = checked(::epoll_create1(EPOLL_CLOEXEC));
  try {
    watch(made, timer_);
    watch(made, signal_);
    for (const auto& [loop, users] : loops_) watch(made, loop->descriptor());
  } catch (...) {
    ::close(made);
    throw;
  }
  epoll_ = made;
}

void sleeper::add(external_loop& p) {
  const std::lock_guard lock(mutex_);
  if (loops_.add(p) && epoll_ >= 0) watch(epoll_, p.descriptor());
}

void sleeper::remove(external_loop& p) noexcept {
  const std::lock_guard lock(mutex_);
  if (loops_.remove(p) && epoll_ >= 0) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, p.descriptor(), nullptr);
}

int sleeper::descriptor() {
  const std::lock_guard lock(mutex_);
  open();
  return epoll_;
}

bool sleeper::arm() {
  const std::lock_guard lock(mutex_);
  open();
  std::uint64_t count = 0;
  if (::read(signal_, &count, sizeof count) > 0) return false;
  auto until = steady_clock::time_point::max();
  for (const auto& [loop, users] : loops_) {
    const auto its = loop->arm();
    if (!its) return false;
    until = std::min(until, *its);
  }
  set(timer_, until);
  return true;
}

void sleeper::sleep(int timeout_ms) {
  pollfd one{descriptor(), POLLIN, 0};
  ::poll(&one, 1, timeout_ms);
}

void sleeper::signal() {
  const std::lock_guard lock(mutex_);
  open();
  signalled_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  if (::write(signal_, &one, sizeof one) < 0) return;  // full: it is readable already
}

}  // namespace weft::ofi
