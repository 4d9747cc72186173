// SPDX-License-Identifier: Apache-2.0
// Waits for descriptors in the wait set of one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <weft/detail/fd_wait.hpp>

#include "runtime/sleep/wait_set.hpp"

namespace weft::runtime {

/// Collects waits from any thread for the one thread that sleeps in a wait set. A descriptor is in
/// the set at most once, however many wait for it, and only while a thread waits for it. Owned by
/// the progress core; destroyed after that wait set's last wait.
class fd_waits {
 public:
  fd_waits() = default;
  fd_waits(const fd_waits&) = delete;
  fd_waits& operator=(const fd_waits&) = delete;

  /// As detail::fd_wait_service; afterwards the sleeping thread has to be rung. Any thread.
  errc start(detail::fd_wait& w) noexcept;
  /// \return whether the sleeping thread has to be rung
  bool cancel(detail::fd_wait& w) noexcept;

  /// Whether take_up has work. Any thread.
  bool has_news() const noexcept { return news_.load(std::memory_order_relaxed); }
  /// Whether a wait of urgency `prompt` is under way. Any thread.
  bool is_prompt() const noexcept { return prompt_.load(std::memory_order_relaxed) != 0; }

  /// The sleeping thread, before it waits: brings the set up to date.
  void take_up(wait_set& set) noexcept;

  /// Whether end_waits has work: the last poll of the set, a sleep in it or take_up found waits
  /// that have ended.
  bool has_ended() const noexcept { return has_ended_.load(std::memory_order_relaxed); }
  /// Calls on_end of these. Not with the progress lock held, which on_end may take.
  void end_waits() noexcept;
  /// How often a descriptor was found ready since the last call. The sleeping thread.
  unsigned take_ready_count() noexcept {
    return ready_count_.exchange(0, std::memory_order_relaxed);
  }

  /// The sleeping thread: takes all descriptors out of the set. The next take_up adds them to
  /// another set.
  void withdraw(wait_set& set) noexcept;
  /// Takes all descriptors out of the set, and ends all waits with errc::closed by the next
  /// end_waits; later ones do not start. No thread may sleep in the set.
  void close(wait_set& set) noexcept;

 private:
  /// A list through the waits themselves.
  class list {
   public:
    detail::fd_wait* first() const noexcept { return first_; }
    void push(detail::fd_wait& w) noexcept;
    void remove(detail::fd_wait& w) noexcept;

   private:
    detail::fd_wait* first_ = nullptr;
    detail::fd_wait* last_ = nullptr;
  };

  /// A descriptor that was waited for. Stays: it will be waited for again.
  struct descriptor final : fd_watcher {
    descriptor(fd_waits& o, int number) noexcept : owner(o), fd(number) {}
    fd_waits& owner;
    const int fd;
    wait_set* in = nullptr;
    bool changed = false;  // it is in changed_
    list waiting;
    list leaving;  // cancelled; end when the descriptor has left the set
    void on_ready(std::uint32_t events) noexcept override;
  };

  // With the mutex held:
  descriptor& row_of(int fd);
  void note_change(descriptor& d) noexcept;
  void take_out(descriptor& d) noexcept;
  void put_in(descriptor& d, wait_set& set) noexcept;
  void fail(descriptor& d, errc status, const char* why) noexcept;
  void end(list& from, detail::fd_wait& w, errc status, const char* why = "") noexcept;
  void end_all(list& from, errc status, const char* why = "") noexcept;

  std::atomic<bool> news_{false};
  std::atomic<bool> has_ended_{false};
  std::atomic<unsigned> ready_count_{0};
  std::atomic<unsigned> prompt_{0};
  std::mutex mutex_;  // guards the members below
  bool closed_ = false;
  std::unordered_map<int, descriptor> rows_;
  std::vector<descriptor*> changed_;  // has room for all rows twice: take_up may add again
  list ended_;
};

}  // namespace weft::runtime
