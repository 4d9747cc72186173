// SPDX-License-Identifier: Apache-2.0
// What endpoint::send, recv and probe return, and the operations that are made of it.
//
// `co_await peer.send(...)` makes the operation by itself. A loop of another library
// (weft/external_loop.hpp) has it in its own memory:
//
//     recv_operation op(peer.recv(buffer, tag{1}), &has_ended);
//     if (loop.start(op)) ...   // it has ended already: op.status, op.take()
//
// A request is a small value that starts nothing; its members are for weft's own layers. Its
// buffers, and a list of them, belong to the caller. From `start` to the end of the operation a
// send's stay unchanged, and a receive's are not touched.
//
// For each operation here:
//   its constructor   takes the request, and a function that is called once, at the end, by the
//                     thread that makes progress; not at all where `start` returns true
//   start             begins, once; any thread that does not hold the progress lock.
//                     \return true: it has ended already, with `status`
//   start_held        the same for a thread that holds it (external_loop::progress_guard)
//   cancel            asks it to end with errc::stopped; any thread, also before and during start.
//                     It still ends once, and well if it was too late
//   take              after an end with errc::ok: the result
//   explain           after another end: cause and cure, for people
// An operation lives in its owner, does not move while in flight, and may be destroyed when it has
// ended.
#pragma once

#include <cstdint>
#include <string>

#include <weft/coro/detail/request.hpp>
#include <weft/detail/message_state.hpp>
#include <weft/message.hpp>

namespace weft {

class send_operation;
class recv_operation;
class probe_operation;
class claimed_operation;

/// What `endpoint::send` and `send_synchronous` return.
struct [[nodiscard]] send_request {
  using value_type = void;
  using operation_type = send_operation;
  detail::peer_name to;
  weft::tag tag;
  detail::buffer_list<const_buffer> data;
  detail::send_mode mode = detail::send_mode::standard;
  std::uint64_t immediate = 0;

  /// Sends a small message without an operation, on the thread inside `run()`.
  /// \return true: it has left, and `data` is the caller's again; false: nothing has happened
  bool try_now() const noexcept {
    if (!data.single()) return false;
    if (detail::may_leave_at_once(mode))
      return detail::try_send_small(to.peer, to.id, tag.value, data.front(), immediate);
    return mode == detail::send_mode::signal &&
           detail::try_send_signal(to.peer, to.id, tag.value, immediate);
  }
  /// The same on any thread that holds the progress lock, as external_loop::progress_guard does.
  bool try_held() const noexcept;
};

/// What `endpoint::recv` and `context::recv` return. The result tells source, tag and size.
struct [[nodiscard]] recv_request {
  using value_type = received;
  using operation_type = recv_operation;
  proto::messenger* messenger;  ///< null if `from` is given; both null: no peer, an error
  detail::peer_name from;       ///< null: any source
  tag_mask tag;
  detail::buffer_list<mutable_buffer> into;
};

/// What `endpoint::probe` and `context::probe` return. The message stays in the queue.
struct [[nodiscard]] probe_request {
  using value_type = received;
  using operation_type = probe_operation;
  proto::messenger* messenger;  ///< null if `from` is given
  detail::peer_name from;       ///< null: any source
  tag_mask tag;
};

/// What `claimed_message::recv` and `call::recv` return.
struct [[nodiscard]] claimed_request {
  using value_type = received;
  using operation_type = claimed_operation;
  /// In the claimed_message; set to null when the receive has been started.
  proto::inbound_message** message;
  detail::peer_name from;
  detail::buffer_list<mutable_buffer> into;
};

/// A send in flight. Ends when the bytes are the caller's again; a synchronous one when the
/// receiver has matched the message.
class send_operation : public detail::send_state {
 public:
  send_operation(const send_request& r, complete_fn f) noexcept : send_state(f), request(r) {}
  bool start() noexcept;
  bool start_held() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  std::string explain() const;

  send_request request;  ///< never changes in flight
};

/// A receive in flight.
class recv_operation : public detail::recv_state {
 public:
  recv_operation(const recv_request& r, complete_fn f) noexcept
      : recv_state(r.messenger, r.from, r.tag, r.into, f) {}
  bool start() noexcept;
  bool start_held() noexcept;
  void cancel() noexcept;
  received take() const noexcept { return got; }
  std::string explain() const;

 private:
  bool start_locked() noexcept;
};

/// A receive of a claimed message: it never waits in a queue.
class claimed_operation : public recv_operation {
 public:
  claimed_operation(const claimed_request& r, complete_fn f) noexcept
      : recv_operation({nullptr, r.from, any_tag, r.into}, f), claimed_(r.message) {}
  /// Takes a message that is here as a whole. Any thread that does not hold the progress lock.
  /// \return true: it has ended, with `status`; false: nothing has happened
  bool try_start() noexcept;
  bool start() noexcept;
  bool start_held() noexcept;
  std::string explain() const;

 private:
  proto::inbound_message** const claimed_;
};

/// A probe in flight.
class probe_operation : public detail::match_operation {
 public:
  probe_operation(const probe_request& r, complete_fn f) noexcept
      : match_operation(r.messenger, r.from, r.tag, is_probe, f) {}
  bool start() noexcept;
  bool start_held() noexcept;
  void cancel() noexcept;
  received take() const noexcept { return got; }
  std::string explain() const;
};

}  // namespace weft
