// SPDX-License-Identifier: Apache-2.0
// Messages that wait for an answer of their receiver.
#pragma once

#include <coroutine>
#include <cstdint>

#include "proto/connection/frame_writer.hpp"
#include "proto/frames/outbound_message.hpp"
#include "proto/support/id_table.hpp"
#include "proto/support/protocol_coroutine.hpp"

namespace weft::proto {

/// Rendezvous and synchronous sends to one peer: their numbers, the answers to them, and the three
/// payload schemes, each with a file of its own: rendezvous_get.cpp, rendezvous_put.cpp,
/// rendezvous_pipeline.cpp. Part of the sender, whose coroutine (`send_message`) goes through the
/// steps. Progress lock held only.
class rendezvous_sender {
 public:
  rendezvous_sender(const protocol_services& s, frame_writer& w, peer_connection& c) noexcept
      : services_(&s), connection_(&c), writer_(&w) {}

  /// Gives the message the number that the peer names in its answer: op.id. For a rendezvous this
  /// is its beginning in the trace. \return false: no number is free
  bool take_number(outbound_message& m) noexcept;
  /// `co_await number()`: for a free number. False: the connection has ended.
  queue_waiter number() noexcept { return queue_waiter(numbers_); }
  /// Resumes all that wait for a number, because one of them was stopped.
  void resume_numbers() noexcept { numbers_.resume_all(true); }
  outbound_message& operator[](local_id id) const noexcept { return *messages_.find(id); }
  /// Null: no message has that number.
  outbound_message* find(std::uint64_t id) const noexcept { return messages_.find(id); }
  /// The message with that number lies there from now on.
  void move_to(outbound_message& m) noexcept { messages_.replace(m.op->id, m); }
  /// The message has ended: its number is free. \return whether it had one; if so, call
  /// `number_freed` next
  bool end(outbound_message& m) noexcept;
  void number_freed() noexcept {
    if (!numbers_.empty()) numbers_.resume_first(true);
  }

  /// Calls `act` for each message that has a number.
  template <class Action>
  void for_each(Action act) const {
    messages_.for_each(act);
  }
  /// The same; `act` may end messages.
  template <class Action>
  void for_each(Action act) {
    messages_.for_each(act);
  }

  /// `co_await answer_to(m)`: its kind, or `lost`.
  struct answer_waiter {
    outbound_message& m;
    bool await_ready() const noexcept { return m.answer != frame_kind{}; }
    void await_suspend(std::coroutine_handle<> h) noexcept { m.waiting = h; }
    frame_kind await_resume() const noexcept { return m.answer; }
  };
  static answer_waiter answer_to(outbound_message& m) noexcept { return {m}; }
  static constexpr frame_kind lost{0xff};  // the connection ended before an answer came

  // Frames.
  bool on_answer(frame_kind kind, const frame_extension& x) noexcept;
  void on_stop_data(const frame_extension& x) noexcept;
  void on_transferred(std::uint64_t id, bool well) noexcept;
  void on_chained(std::uint64_t id) noexcept;

  /// rendezvous_get.cpp: before the rts, lets the receiver read.
  void expose(outbound_message& m) noexcept;

  /// rendezvous_put.cpp: after the cts, writes to the place that the receiver named.
  /// \return posted: `co_await written(m)` is next; failed: the data goes in frames
  transports::post put(outbound_message& m) noexcept;
  struct put_waiter {
    outbound_message& m;
    bool await_ready() const noexcept { return !m.putting; }
    void await_suspend(std::coroutine_handle<> h) noexcept { m.waiting = h; }
    transports::post await_resume() const noexcept {
      return m.written ? transports::post::done : transports::post::failed;
    }
  };
  static put_waiter written(outbound_message& m) noexcept { return {m}; }
  void has_put(outbound_message& m) noexcept;

  /// rendezvous_pipeline.cpp: the rest in frames, from op.sent on.
  /// \return done: all data has left; posted: other peers have their turn now; busy, failed as with
  ///   a link
  transports::post push_data(outbound_message& m, transports::gather& data) noexcept;
  /// Whether the link still reads memory of frames that have left.
  bool is_held(const outbound_message& m) const noexcept;
  /// The receiver needs no more: tells it that nothing follows.
  void end_data(outbound_message& m) noexcept;

  /// The connection has ended.
  void fail() noexcept;

 private:
  const protocol_services* services_;
  peer_connection* connection_;
  frame_writer* writer_;
  id_table<outbound_message> messages_;
  waiters numbers_;  // for a number: the message that is being begun, or none
};

/// Has the link tell the peer of the end of a copy by itself, if it can and the settings want that.
void chain_fin(chained_fin wanted, transports::link& link, std::uint64_t cookie, frame_kind kind,
               std::uint64_t id) noexcept;

}  // namespace weft::proto
