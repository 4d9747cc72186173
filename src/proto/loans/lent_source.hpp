// SPDX-License-Identifier: Apache-2.0
// The receiver's side of loans: what views need, also after the end of what made them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include <weft/detail/message_state.hpp>
#include <weft/transport/link.hpp>

#include "runtime/os/fork_mark.hpp"
#include "runtime/progress/engine.hpp"

namespace weft::proto {

/// Where views of a context report their end. It lives as long as any of them. Any thread.
class lent_home {
 public:
  /// \throws std::bad_alloc
  explicit lent_home(runtime::engine& e) : engine_(&e), loop_(&e) {}

  /// The engine is about to end. Not with the progress lock held.
  void close() noexcept {
    const std::lock_guard only(mutex_);
    engine_ = nullptr;
    loop_.store(nullptr, std::memory_order_relaxed);
  }

  /// Calls `act` with the progress lock held; once the context has ended, with a lock in its place.
  /// \param act bool: whether the context lives
  template <class Action>
  static void with_lock(const std::shared_ptr<lent_home>& of, Action act) noexcept {
    lent_home& h = *of;
    if (h.mark_.is_inherited()) return;  // the parent's views are the parent's to end
    // The context cannot end under the thread inside run(), which takes the progress lock by plain
    // stores (progress_lock).
    const detail::run_loop* const here = detail::run_loop::here();
    if (here && here == h.loop_.load(std::memory_order_relaxed)) [[likely]] {
      const runtime::engine::holder hold(*h.engine_);
      return act(true);
    }
    const std::shared_ptr<lent_home> kept = of;
    const std::lock_guard only(kept->mutex_);
    if (!kept->engine_) return act(false);
    const runtime::engine::holder hold(*kept->engine_);
    act(true);
  }

 private:
  const runtime::fork_mark mark_;
  std::mutex mutex_;
  runtime::engine* engine_;  // null: it has ended
  std::atomic<const detail::run_loop*> loop_;
};

/// One piece of a peer's memory that this side reads in place. Counts its views without a locked
/// instruction: under the progress lock, and after the context's end under that of lent_home.
class lent_source {
 public:
  /// \return null: no memory
  static lent_source* make(std::shared_ptr<lent_home> home, detail::peer_name of,
                           const std::shared_ptr<const void>& mapping) noexcept;

  bool is(const std::shared_ptr<const void>& mapping) const noexcept { return mapping_ == mapping; }
  /// One more view.
  void add() noexcept { ++users_; }
  /// One fewer; the last one ends the object.
  void drop() noexcept {
    if (--users_ == 0) delete this;
  }
  /// A view has ended. Any thread, without the progress lock. \param number the sender's, of the
  /// message
  void give_back(std::uint16_t number) noexcept;

 private:
  lent_source(std::shared_ptr<lent_home> home, detail::peer_name of,
              std::shared_ptr<const void> mapping) noexcept
      : home_(std::move(home)), from_(of), mapping_(std::move(mapping)) {}

  const std::shared_ptr<lent_home> home_;
  const detail::peer_name from_;
  const std::shared_ptr<const void> mapping_;
  std::size_t users_ = 1;  // the views, and the peer while it is this one that it makes views of
};

}  // namespace weft::proto
