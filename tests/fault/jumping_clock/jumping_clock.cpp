// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program, it makes the wall clock jump: each reading is an hour or twelve hours
// before or behind the true time. A program that measures with it waits for hours or not at all.
// The steady clock is not changed.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <atomic>

namespace {

time_t jump() noexcept {
  static std::atomic<unsigned> looks{0};
  static constexpr time_t hours[] = {1, -1, 12, 0, -12, 1, 0, -1};
  return hours[looks.fetch_add(1, std::memory_order_relaxed) % 8] * 3600;
}

template <class F>
F* next(const char* name) noexcept {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t which, timespec* t) noexcept {
  static auto* const real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(which, t);
  if (result == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
    t->tv_sec += jump();
  return result;
}

int gettimeofday(timeval* t, void* zone) noexcept {
  static auto* const real = next<int(timeval*, void*)>("gettimeofday");
  const int result = real(t, zone);
  if (result == 0) t->tv_sec += jump();
  return result;
}

time_t time(time_t* at) noexcept {
  static auto* const real = next<time_t(time_t*)>("time");
  const time_t now = real(nullptr) + jump();
  if (at) *at = now;
  return now;
}
}
