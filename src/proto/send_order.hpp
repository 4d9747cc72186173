// SPDX-License-Identifier: Apache-2.0
// The order in which messages begin at a peer.
#pragma once

#include <coroutine>
#include <utility>

#include "proto/peer_connection.hpp"
#include "proto/protocol_coroutine.hpp"

namespace weft::detail {
class send_operation;
}

namespace weft::proto {

/// Lets one message at a time begin at a peer, in the order of arrival: all of its eager frames
/// leave before those of the next one. Part of the sender. Progress lock held only.
class send_order {
 public:
  explicit send_order(peer_connection& c) noexcept : connection_(&c) {}

  /// Whether a message is being begun.
  bool held() const noexcept { return held_; }
  /// The message that is being begun, if a protocol begins it; null: none.
  const detail::send_operation* holder() const noexcept { return holder_; }
  void note_holder(const detail::send_operation& op) noexcept { holder_ = &op; }
  /// Calls `act` for each message that waits for its turn.
  template <class Action>
  void for_each_waiting(Action act) const {
    waiting_.for_each([&](const waiter& w) {
      if (const auto* op = static_cast<const acquirer&>(w).op) act(*op);
    });
  }
  /// For a caller that has found the order free on an open connection.
  void take() noexcept { held_ = true; }
  /// The next waiting message takes the order, if the connection is open.
  void release() noexcept {
    held_ = false;
    holder_ = nullptr;
    if (waiting_.empty() || !connection_->is_open()) return;
    held_ = true;
    waiting_.resume_first(true);
  }

  /// `co_await acquire(op)`: true when the caller holds the order, false when it was stopped, or
  /// the peer is gone.
  struct acquirer : waiter {
    send_order& order;
    const detail::send_operation* op;
    acquirer(send_order& s, const detail::send_operation* o) noexcept : order(s), op(o) {}
    bool await_ready() noexcept {
      if (order.connection_->gone()) return true;
      if (order.held_ || !order.connection_->is_open()) return false;
      return order.held_ = granted = true;
    }
    void await_suspend(std::coroutine_handle<> h) noexcept {
      self = h;
      order.waiting_.add(*this);
      order.connection_->want_link();
    }
  };
  /// \param op null: the caller is no message
  acquirer acquire(const detail::send_operation* op) noexcept { return {*this, op}; }

  /// Stops the wait of that message. \return false: it does not wait for the order
  bool stop(const detail::send_operation& op) noexcept {
    waiter* const w =
        waiting_.find([&op](waiter& i) { return static_cast<acquirer&>(i).op == &op; });
    if (!w) return false;
    waiting_.remove(*w);
    w->self.resume();
    return true;
  }

  /// The connection has ended.
  void fail() noexcept { waiting_.resume_all(false); }

 private:
  peer_connection* connection_;
  bool held_ = false;
  const detail::send_operation* holder_ = nullptr;
  waiters waiting_;  // acquirers
};

}  // namespace weft::proto
