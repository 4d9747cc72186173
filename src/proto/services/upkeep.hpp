// SPDX-License-Identifier: Apache-2.0
// What parts of the protocols leave to a later pass of the engine.
#pragma once

#include <coroutine>

#include <weft/coro/detail/timer.hpp>

#include "proto/support/protocol_coroutine.hpp"

namespace weft::proto {

class frame_writer;

/// Work that cannot be done where its cause is found, or not at once. One for a context:
/// peer_upkeep. None of it is on the path of a small message. Progress lock held only.
class upkeep {
 public:
  /// Lets other peers use the engine before a long transfer goes on: `co_await yield()`.
  struct yield_waiter : waiter {
    upkeep& until;
    explicit yield_waiter(upkeep& u) noexcept : until(u) {}
    void await_suspend(std::coroutine_handle<> h) noexcept {
      self = h;
      until.add_yielded(*this);
    }
    void await_resume() const noexcept {}
  };
  yield_waiter yield() noexcept { return yield_waiter(*this); }

  /// A peer is to fail at the next pass (peer_connection::mark_failed).
  virtual void note_marked() noexcept = 0;
  /// The peer of that writer has used up its credit, and the budget has no more for it; or does not
  /// wait any more.
  virtual void note_starved(frame_writer& w, bool waits) noexcept = 0;
  /// The budget has units again: peers that wait are granted them in the next pass.
  virtual void note_budget() noexcept = 0;
  /// An operation was stopped, or a region ends, and waits for what its peer does. If it has not
  /// ended after messenger_settings::stop_timeout, the peer fails. \return now, to be kept for
  ///   peer::oldest_stop
  virtual detail::time_point note_stop() noexcept = 0;
  /// One more peer, or one fewer, has unsent frames (frame_writer::unsent).
  virtual void has_unsent(bool one_more) noexcept = 0;

 protected:
  ~upkeep() = default;

 private:
  /// \param w goes on in the next pass
  virtual void add_yielded(waiter& w) noexcept = 0;
};

}  // namespace weft::proto
