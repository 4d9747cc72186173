// SPDX-License-Identifier: Apache-2.0
// A thread's sleep until one of several endpoints has something to look for.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

#include <weft/external_loop.hpp>

namespace weft::ofi {

/// How long to look in vain before a sleep, which costs about as much.
inline constexpr std::chrono::microseconds time_to_spin{50};

/// One descriptor for all of them: of each endpoint's external loop, of a timer for when they want
/// to be looked after at the latest, and of a signal. Made when it is first needed.
class sleeper {
 public:
  sleeper() = default;
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;
  ~sleeper();

  void add(external_loop& p);
  void remove(external_loop& p) noexcept;

  /// Readable while one of those that were armed has something to look for.
  /// \throws weft::error (system)
  int descriptor();

  /// Arms all. \return false: one of them has something to look for
  bool arm();

  /// After arm(). \param timeout_ms negative: for ever
  void sleep(int timeout_ms);

  /// Wakes whoever sleeps, or keeps the next one from it, who learns of it by take_signal.
  void signal();
  bool take_signal() noexcept { return signalled_.exchange(false, std::memory_order_acquire); }

 private:
  void open();
  std::mutex mutex_;
  std::vector<external_loop*> pumps_;
  int epoll_ = -1;
  int timer_ = -1;
  int signal_ = -1;
  std::atomic<bool> signalled_{false};
};

}  // namespace weft::ofi
