// SPDX-License-Identifier: Apache-2.0
// The order in which messages begin at a peer.
#pragma once

#include <coroutine>
#include <utility>

#include "proto/connection/peer_connection.hpp"
#include "proto/support/protocol_coroutine.hpp"

namespace weft {
class send_operation;
}

namespace weft::proto {

/// Lets one message at a time begin at a peer, answers first, and otherwise in the order of
/// arrival: all of its eager frames leave before those of the next one. Part of the sender.
/// Progress lock held only.
class send_order {
 public:
  explicit send_order(peer_connection& c) noexcept : connection_(&c) {}

  /// Whether a message is being begun.
  bool held() const noexcept { return held_; }
  /// The message that is being begun, if a protocol begins it; null: none.
  const send_operation* holder() const noexcept { return holder_; }
  void note_holder(const send_operation& op) noexcept { holder_ = &op; }
  /// Calls `act` for each message that waits for its turn.
  template <class Action>
  void for_each_waiting(Action act) const {
    const auto each = [&](const waiter& w) {
      if (const auto* op = static_cast<const acquirer&>(w).op) act(*op);
    };
    answers_.for_each(each);
    waiting_.for_each(each);
  }
  /// Whether an answer waits for its turn.
  bool has_answers() const noexcept { return !answers_.empty(); }
  /// For a caller that has found the order free on an open connection.
  void take() noexcept { held_ = true; }
  /// The next waiting message takes the order, if the connection is open.
  void release() noexcept {
    held_ = false;
    holder_ = nullptr;
    waiters& next = answers_.empty() ? waiting_ : answers_;
    if (next.empty() || !connection_->is_open()) return;
    held_ = true;
    next.resume_first(true);
  }

  /// `co_await acquire(op)`: true when the caller holds the order, false when it was stopped, or
  /// the peer has ended.
  struct acquirer : waiter {
    send_order& order;
    const send_operation* op;
    bool answers;
    acquirer(send_order& s, const send_operation* o, bool first) noexcept
        : order(s), op(o), answers(first) {}
    bool await_ready() noexcept {
      if (order.connection_->has_ended()) return true;
      if (order.held_ || !order.connection_->is_open()) return false;
      return order.held_ = granted = true;
    }
    void await_suspend(std::coroutine_handle<> h) noexcept {
      self = h;
      (answers ? order.answers_ : order.waiting_).add(*this);
      order.connection_->want_link();
    }
  };
  /// \param op null: the caller is no message \param answers it is an answer
  acquirer acquire(const send_operation* op, bool answers = false) noexcept {
    return {*this, op, answers};
  }

  /// `co_await let_answers_go(op)`: as acquire, for the holder, whose message has not begun. The
  /// answers that wait go first, and then the holder, before all others. There is an answer.
  struct turn_giver : acquirer {
    using acquirer::acquirer;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) noexcept {
      self = h;
      order.holder_ = nullptr;
      order.waiting_.add_first(*this);
      return order.answers_.take_first().self;
    }
  };
  turn_giver let_answers_go(const send_operation& op) noexcept { return {*this, &op, false}; }

  /// Stops the wait of that message. \return false: it does not wait for the order
  bool stop(const send_operation& op) noexcept {
    for (waiters* const line : {&answers_, &waiting_}) {
      waiter* const w =
          line->find([&op](waiter& i) { return static_cast<acquirer&>(i).op == &op; });
      if (!w) continue;
      line->remove(*w);
      w->self.resume();
      return true;
    }
    return false;
  }

  /// The connection has ended.
  void fail() noexcept {
    answers_.resume_all(false);
    waiting_.resume_all(false);
  }

 private:
  peer_connection* connection_;
  bool held_ = false;
  const send_operation* holder_ = nullptr;
  waiters answers_;  // acquirers
  waiters waiting_;  // the others
};

}  // namespace weft::proto
