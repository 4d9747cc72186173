// SPDX-License-Identifier: Apache-2.0
// Descriptors that become ready once: a process that dies.
#pragma once

#include <functional>
#include <list>
#include <mutex>

#include "runtime/fd.hpp"
#include "runtime/wait_set.hpp"

namespace weft::runtime {

/// Collects descriptors from any thread for the one thread that sleeps in a wait set. Owned by the
/// engine; destroyed after that wait set's last wait.
class one_shot_watches {
 public:
  /// Any thread. `fire` is called once, on the sleeping thread, without the baton, when `fd` is
  /// readable; then both are destroyed.
  void add(unique_fd fd, std::function<void()> fire);

  /// The sleeping thread, before it waits: hands new descriptors to the set, frees those that
  /// fired.
  void take_up(wait_set& set);

  /// The sleeping thread, for the last time: takes everything out of the set.
  void withdraw(wait_set& set) noexcept;

 private:
  struct watch final : fd_watcher {
    unique_fd fd;
    std::function<void()> fire;
    wait_set* in = nullptr;
    void on_ready(std::uint32_t events) noexcept override;
  };

  std::mutex mutex_;
  std::list<watch> fresh_;  // guarded by mutex_
  std::list<watch> watched_;
};

}  // namespace weft::runtime
