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

/// The order of a compare-and-swap that fails, where the code names only that of success.
constexpr std::memory_order without_release(std::memory_order how) {
  if (how == std::memory_order_acq_rel) return std::memory_order_acquire;
  return how == std::memory_order_release ? std::memory_order_relaxed : how;
}

/// As std::atomic, of the same size. Every operation is one step of the scheduler.
template <class T>
class atomic {
  static constexpr auto strict = std::memory_order_seq_cst;

 public:
  using value_type = T;
  constexpr atomic() noexcept : atomic(T{}) {}
  constexpr atomic(T value) noexcept : value_(value) {
    if (!std::is_constant_evaluated()) begin_life(&value_, sizeof value_);
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order how = strict) const noexcept {
    T value;
    interleave::load(&value_, &value, sizeof value, how);
    return value;
  }
  operator T() const noexcept { return load(); }
  void store(T value, std::memory_order how = strict) noexcept {
    interleave::store(&value_, &value, sizeof value, how);
  }
  T operator=(T value) noexcept {
    store(value);
    return value;
  }

  T exchange(T value, std::memory_order how = strict) noexcept {
    return change([&](T) { return value; }, how);
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order well,
                               std::memory_order badly) noexcept {
    point_of_change();
    const bool equal = value_ == expected;
    interleave::change(&value_, equal ? &wanted : nullptr, sizeof value_, equal ? well : badly);
    if (!equal) expected = value_;
    return equal;
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order how = strict) noexcept {
    return compare_exchange_strong(expected, wanted, how, without_release(how));
  }
  template <class... Orders>
  bool compare_exchange_weak(T& expected, T wanted, Orders... orders) noexcept {
    return compare_exchange_strong(expected, wanted, orders...);
  }
  T fetch_add(T n, std::memory_order how = strict) noexcept {
    return change([&](T now) { return static_cast<T>(now + n); }, how);
  }
  T fetch_or(T n, std::memory_order how = strict) noexcept {
    return change([&](T now) { return static_cast<T>(now | n); }, how);
  }
  T fetch_and(T n, std::memory_order how = strict) noexcept {
    return change([&](T now) { return static_cast<T>(now & n); }, how);
  }
  T fetch_sub(T n, std::memory_order how = strict) noexcept {
    return change([&](T now) { return static_cast<T>(now - n); }, how);
  }

 private:
  /// A locked instruction: finds the newest value. On x86 the thread's own stores have reached the
  /// memory before.
  template <class F>
  T change(F f, std::memory_order how) noexcept {
    point_of_change();
    const T before = value_, after = f(before);
    interleave::change(&value_, &after, sizeof value_, how);
    return before;
  }

  T value_{};
};

}  // namespace interleave

namespace weft::std {
using namespace ::std;
template <class T>
using atomic = ::interleave::atomic<T>;
inline void atomic_thread_fence(memory_order how) noexcept { ::interleave::fence(how); }
}  // namespace weft::std
