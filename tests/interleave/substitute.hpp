// SPDX-License-Identifier: Apache-2.0
// Included before all headers of weft: `std::atomic`, written inside namespace weft, is then that
// of the scheduler. So the tested code is the shipped code, without a parameter or a macro for this
// purpose.
#pragma once

#include <atomic>
#include <cstring>
#include <type_traits>

#include "scheduler.hpp"

namespace interleave {

inline bool releases(std::memory_order how) {
  return how != std::memory_order_relaxed && how != std::memory_order_acquire &&
         how != std::memory_order_consume;
}

/// As std::atomic, of the same size. Every operation is one step of the scheduler.
template <class T>
class atomic {
  static constexpr auto strict = std::memory_order_seq_cst;

 public:
  using value_type = T;
  constexpr atomic() noexcept = default;
  constexpr atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order = strict) const noexcept {
    T value;
    interleave::load(&value_, &value, sizeof value);
    return value;
  }
  operator T() const noexcept { return load(); }
  void store(T value, std::memory_order how = strict) noexcept {
    interleave::store(&value_, &value, sizeof value, releases(how));
    if (how == strict) fence();
  }
  T operator=(T value) noexcept {
    store(value);
    return value;
  }

  T exchange(T value, std::memory_order = strict) noexcept {
    return change([&](T) { return value; });
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order = strict,
                               std::memory_order = strict) noexcept {
    const T before = change([&](T now) { return now == expected ? wanted : now; });
    const bool done = before == expected;
    expected = before;
    return done;
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order a = strict,
                             std::memory_order b = strict) noexcept {
    return compare_exchange_strong(expected, wanted, a, b);
  }
  T fetch_add(T n, std::memory_order = strict) noexcept {
    return change([&](T now) { return static_cast<T>(now + n); });
  }
  T fetch_sub(T n, std::memory_order = strict) noexcept {
    return change([&](T now) { return static_cast<T>(now - n); });
  }

 private:
  /// A locked instruction: the thread's own stores have reached the memory before.
  template <class F>
  T change(F f) noexcept {
    point();
    fence();
    T before = value_;
    value_ = f(before);
    changed();
    return before;
  }

  T value_{};
};

}  // namespace interleave

namespace weft::std {
using namespace ::std;
template <class T>
using atomic = ::interleave::atomic<T>;
inline void atomic_thread_fence(memory_order how) noexcept {
  if (how == memory_order_seq_cst) ::interleave::fence();
}
}  // namespace weft::std
