// SPDX-License-Identifier: Apache-2.0
// Lets a thread sleep until one of several endpoints needs polling.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include <weft/external_loop.hpp>

#include "bindings/ofi/objects/loop_list.hpp"

namespace weft::ofi {

/// How long to poll without an event before a sleep, which costs about as much.
inline constexpr std::chrono::microseconds time_to_spin{50};

/// One descriptor for all sources: each endpoint's external loop, a timer for the earliest of their
/// deadlines, and a signal. Made when it is first needed.
class sleeper {
 public:
  sleeper() = default;
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;
  ~sleeper();

  /// Once for each user of the loop, like `remove`.
  void add(external_loop& p);
  void remove(external_loop& p) noexcept;

  /// Readable while one of the armed loops needs polling.
  /// \throws weft::error (system)
  int descriptor();

  /// Arms all loops. \return false: one of them needs polling
  bool arm();

  /// Sleeps; after arm(). \param timeout_ms negative: without limit
  void sleep(int timeout_ms);

  /// Wakes a sleeping thread, or keeps the next one from sleeping; that thread learns of it by
  /// take_signal.
  void signal();
  bool take_signal() noexcept { return signalled_.exchange(false, std::memory_order_acquire); }

 private:
  void open();
  std::mutex mutex_;
  loop_list loops_;
  int epoll_ = -1;
  int timer_ = -1;
  int signal_ = -1;
  std::atomic<bool> signalled_{false};
};

}  // namespace weft::ofi
