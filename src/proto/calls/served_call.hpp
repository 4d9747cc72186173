// SPDX-License-Identifier: Apache-2.0
// A call while its handler runs.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/coro/detail/detached_task.hpp>
#include <weft/coro/detail/timer.hpp>
#include <weft/detail/call_stream_ops.hpp>

#include "proto/calls/call_table.hpp"

namespace weft::proto {

/// A call from its dispatch until its reply has left: the owner of the handler's coroutine. It
/// counts as running until that has ended. Also the refusal of a call, which has none. Frees itself
/// when nothing of it is in flight any more.
///
/// Made, and put into the completion queue, with the progress lock held; then its parts complete on
/// the handler's executor, each without the lock: the beginning, which becomes the coroutine, a
/// stop, the timer of the deadline, and the last reply.
class served_call final : public operation, detail::detached_task_owner {
 public:
  /// Progress lock held. \param h null: the call is refused, unless there is a handler by the time
  ///   that the thread inside run() gets to it
  /// \param m the message, claimed; null: it is done with
  served_call(const protocol_services& services, call_table& table, peer& from,
              std::shared_ptr<call_handler> h, inbound_message* m, const call_facts& what);
  /// Progress lock held. Replies without a handler.
  void answer(call_status status, std::string text) noexcept;
  /// Progress lock held. Puts the call into the completion queue.
  void begin() noexcept;

  // --- the handler's chain ----------------------------------------------------------------------

  const call_facts& about() const noexcept { return what_; }
  bool wants_reply() const noexcept { return what_.tag.kind != call_kind::post; }
  bool wants_stream() const noexcept { return what_.tag.kind == call_kind::stream_request; }
  const std::shared_ptr<peer>& from() const noexcept { return from_; }
  bool stop_requested() const noexcept { return stop_.stop_requested(); }
  const_buffer data() const noexcept;
  /// \throws std::bad_alloc
  const_buffer beginning();
  inbound_message*& message() noexcept {
    whole_ = nullptr;
    return message_;
  }
  void discard() noexcept;
  send_request reply_request(const detail::buffer_list<const_buffer>& data,
                             call_status status) const noexcept;
  send_request item_request(const detail::buffer_list<const_buffer>& data) const noexcept;

  // --- progress lock held -----------------------------------------------------------------------

  bool may_reply() const noexcept { return !replied_ && !replying_; }
  /// \param by sends the reply \return false: there was a reply, or it is being sent
  bool begin_reply(const send_operation& by) noexcept;
  void reply_ended(errc how) noexcept;
  /// Whether the caller may have its reply, and have given the number to another call.
  bool is_answered() const noexcept { return replied_ || (replying_ && replying_->begun); }
  /// \return true if the operation has ended
  bool start(item_operation& op) noexcept;
  void cancel(item_operation& op) noexcept;
  /// The caller lets more values come. \return false: more than a correct one does
  bool allow_items() noexcept;
  call_handler* handler() const noexcept { return handler_.get(); }
  /// Asks the handler to stop, soon.
  void stop() noexcept;
  /// The handler ends, and with it the call: for a reason that is not the caller's.
  void end_with_handler() noexcept {
    handler_ends_ = true;
    stop();
  }

  served_call* before = nullptr;  ///< for the table
  served_call* after = nullptr;
  bool runs = false;                ///< for the table: it counts among the calls that run
  bool fetches_for_inline = false;  ///< the same: its handler is inline, and is called later

 private:
  friend class call_table;

  /// A part that completes by itself.
  template <class Operation>
  struct part final : Operation {
    template <class... Rest>
    part(served_call& c, void (served_call::*then)(), Rest&&... rest) noexcept
        : Operation(std::forward<Rest>(rest)..., &ended), whole(c), then_(then) {
      this->on = c.on;
    }
    static void ended(operation& op) noexcept {
      auto& self = static_cast<part&>(op);
      (self.whole.*self.then_)();
    }
    served_call& whole;
    void (served_call::*const then_)();
  };
  struct plain_operation : operation {
    using operation::operation;
  };

  ~served_call() = default;
  static void begun(operation& op) noexcept;
  void run() noexcept;
  bool find_handler() noexcept;
  task<void> serve_inline();
  void rang();
  void task_ended(std::exception_ptr failure) noexcept override;
  void send_last(call_status status) noexcept;
  void stop_came();
  void part_left() { leave(); }
  void leave() noexcept;

  const protocol_services& services_;
  call_table& table_;
  const std::shared_ptr<peer> from_;
  std::shared_ptr<call_handler> handler_;
  inbound_message* message_;
  const std::byte* whole_ = nullptr;  // the bytes of the message, if all are here
  bool is_whole_ = false;             // and were from the beginning
  std::vector<std::byte> beginning_;  // a copy: the bytes behind it still come
  const call_facts what_;
  const send_operation* replying_ = nullptr;  // progress lock held, as is the next one
  bool replied_ = false;
  bool ending_ = false;                             // the coroutine has ended; progress lock held
  bool handler_ends_ = false;                       // progress lock held
  bool stop_queued_ = false;                        // progress lock held
  bool only_answers_ = false;                       // there is no coroutine
  std::uint32_t items_allowed_ = most_items_ahead;  // progress lock held, as is the next one
  item_operation* held_back_ = nullptr;             // a value that is one too many
  call_status status_ = call_status::ok;
  std::string text_;
  std::stop_source stop_;
  std::atomic<int> parts_{1};  // in flight; the thread that takes the last one frees the call
  std::optional<part<detail::timer>> deadline_;
  std::optional<part<plain_operation>> stopping_;
  std::optional<part<send_operation>> last_;
};

}  // namespace weft::proto
