// SPDX-License-Identifier: Apache-2.0
// Watches of descriptors that become ready once: for the death of a process.
#pragma once

#include <atomic>
#include <cstdint>
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
  /// Any thread. When `fd` is readable, `fire` is called once by fire_ready(); then both are
  /// destroyed. \param fire throws nothing \return a number for `remove`, never 0
  std::uint64_t add(unique_fd fd, std::function<void()> fire);

  /// Any thread: the event is not wanted any more. `fire` may be under way. Both are destroyed when
  /// the sleeping thread takes up the change; no effect if they were destroyed before.
  void remove(std::uint64_t number) noexcept;

  /// The sleeping thread, before it waits: hands new descriptors to the set, frees those that
  /// fired or are not wanted.
  void take_up(wait_set& set);

  /// Whether the last poll of the set, or sleep in it, found a watch readable.
  bool has_ready() const noexcept { return ready_.load(std::memory_order_relaxed); }
  /// Called by the thread that found them: calls their `fire`. Not with the progress lock held,
  /// which `fire` may take.
  void fire_ready() noexcept;

  /// The sleeping thread: takes all watches out of the set. The next take_up adds them to another
  /// set.
  void withdraw(wait_set& set) noexcept;

 private:
  struct watch final : fd_watcher {
    watch(one_shot_watches& o, std::uint64_t n, unique_fd f, std::function<void()> then)
        : owner(o), number(n), fd(std::move(f)), fire(std::move(then)) {}
    one_shot_watches& owner;
    const std::uint64_t number;
    unique_fd fd;
    std::function<void()> fire;
    wait_set* in = nullptr;  // guarded by the owner's mutex, as are these:
    bool wanted = true;
    bool ready = false;  // found readable; fire_ready() will come
    void on_ready(std::uint32_t events) noexcept override;
  };

  std::atomic<bool> news_{false};   // take_up has work
  std::atomic<bool> ready_{false};  // fire_ready has work
  std::mutex mutex_;                // guards the members below
  std::uint64_t last_number_ = 0;
  std::list<watch> fresh_;
  std::list<watch> watched_;  // in the set, or found readable
};

}  // namespace weft::runtime
