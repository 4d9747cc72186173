// SPDX-License-Identifier: Apache-2.0
// endpoint: the handle of a peer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <weft/claim.hpp>
#include <weft/coro/async_generator.hpp>
#include <weft/coro/task.hpp>
#include <weft/detail/internals.hpp>
#include <weft/operations/access.hpp>
#include <weft/operations/batches.hpp>
#include <weft/operations/calls.hpp>
#include <weft/operations/messages.hpp>

namespace weft {

class context;
template <class T>
struct remote_region_of;
template <class T>
class loan;
template <class T>
class shared_loan;
struct loan_send_request;
template <class T>
struct lent_recv_request;

/// The handle of a peer: a rank of the job, or another process that this context connected to.
/// Cheap to copy; copies name the same peer. Must not outlive its context. Its functions may be
/// called from any thread; the requests that they return do nothing until awaited or started in a
/// scope.
///
/// Messages from one sender with tags that match one receive are received in the order sent. Every
/// request throws `weft::error` when awaited: peer_lost, closed, stopped, truncated (receive only),
/// protocol_error, out_of_memory; and invalid_argument for a tag of weft's own
/// (first_reserved_tag). After the end of an operation its buffers are the caller's again.
class endpoint {
 public:
  endpoint() = default;  ///< names no peer: every request fails with invalid_argument

  /// Sends a message. Ends when `data` may be used again; the message may still be on its way.
  /// \param data any number of bytes, also none (`const_buffer{}`; a bare `{}` could be a list);
  ///             unchanged by the caller until the end
  /// \param t    the tag by which the receiver selects
  /// \param immediate a word that travels with the message, to received::immediate; it takes no
  ///        part in matching (InfiniBand's immediate data, libfabric's remote CQ data)
  send_request send(const_buffer data, tag t, std::uint64_t immediate = 0) const {
    return {name(t), t, data, detail::send_mode::standard, immediate};
  }

  /// The same, gathered from several pieces, in order. `list` must live until the end too.
  send_request send(std::span<const const_buffer> list, tag t, std::uint64_t immediate = 0) const {
    return {name(t), t, list, detail::send_mode::standard, immediate};
  }

  /// As `send`, but ends only when the receiver has matched the message.
  send_request send_synchronous(const_buffer data, tag t, std::uint64_t immediate = 0) const {
    return {name(t), t, data, detail::send_mode::synchronous, immediate};
  }

  /// Sends several messages in a row, each as `send` would, with less work for each small one. Ends
  /// when the last one has left, or with the first failure: then the messages behind it are not
  /// sent. Large messages leave one by one: start a `send` for each where they should overlap.
  /// \param messages the list and its buffers live unchanged until the end
  /// \param t        the tag of all messages
  send_many_request send_many(std::span<const const_buffer> messages, tag t) const {
    return {name(t), t, messages};
  }

  /// Receives a message from this peer. A receive that is stopped while its message arrives leaves
  /// a message of up to 8 KiB to the next receive; a longer one is lost, and the receive ends at
  /// once (docs/lifetimes.md).
  /// \param into the buffer; a longer message fills the buffer and ends with errc::truncated
  /// \param t    a tag, `any_tag`, or a value with a mask
  recv_request recv(mutable_buffer into, tag_mask t) const { return {nullptr, name(t), t, into}; }

  /// The same, scattered over several pieces, in order. `list` must live until the end too.
  recv_request recv(std::span<const mutable_buffer> list, tag_mask t) const {
    return {nullptr, name(t), t, list};
  }

  /// Receives as many messages as `into` has buffers, each as `recv` would, with less work for each
  /// small one. Ends with the last one, or with the first failure, as when a message is longer than
  /// its buffer: then later messages are left to other receives. Large messages arrive one by one:
  /// start a `recv` for each where they should overlap. Until it ends, no other receive should
  /// match the same messages: which of them gets one is not defined.
  /// \param into the list and its buffers live until the end
  /// \param t    as for `recv`, for all of them
  /// \param got  what came in each; entries of messages that did not come stay as they were. As
  ///        long as `into`, or shorter: then later messages go without
  recv_many_request recv_many(std::span<const mutable_buffer> into, tag_mask t,
                              std::span<received> got = {}) const {
    return {name(t), t, into, got};
  }

  // Values in place of bytes: <weft/value.hpp> documents and defines these.
  template <class T>
  auto send_value(tag t, T&& value) const;
  template <class T>
  auto recv_value(tag_mask t, at_most limit = {}) const;
  template <class T>
  auto recv_value(tag_mask t, T&& into, at_most limit = {}) const;
  template <class T>
  auto recv_value_from(tag_mask t, at_most limit = {}) const;

  // Messages that are not copied: <weft/loan.hpp> documents and defines these.
  template <class T>
  loan_send_request send_loan(tag t, loan<T> what, std::uint64_t immediate = 0) const;
  template <class T>
  loan_send_request send_loan(tag t, const shared_loan<T>& what, std::uint64_t immediate = 0) const;
  template <class T>
  lent_recv_request<T> recv_loan(tag_mask t, at_most limit = {}) const;

  /// Ends when a matching message has arrived, and leaves the message in the queue.
  probe_request probe(tag_mask t) const { return {nullptr, name(t), t}; }

  /// The same without waiting: nothing, if no such message has arrived.
  /// \throws weft::error (invalid_argument)
  std::optional<received> try_probe(tag_mask t) const;

  /// As `try_probe`, but takes the message out of matching: only the claimed_message receives it.
  /// \throws weft::error (invalid_argument)
  std::optional<claimed_message> try_claim(tag_mask t) const;

  // Calls of the peer's handlers (context::on). A call is a message, and costs credit as one; calls
  // to one peer begin in the order in which they were started. A call ends with the errors of the
  // class, and with errc::refused, with the handler's text, if there is no such handler or it
  // failed. A stopped call ends at once; its handler is stopped, too, and its reply is dropped. If
  // the chain has a deadline (`within`, `until`), the handler learns it. The peer keeps calls that
  // come before it has registered its first handler. At most 65,535 calls to a peer can wait for
  // replies; a further one ends with errc::out_of_memory.

  /// Calls a handler and waits for its reply.
  /// \param number the number of the handler
  /// \param args   its arguments, as bytes, unchanged by the caller until the end
  /// \param reply  memory for the reply; a longer reply ends the call with errc::truncated
  /// \return bytes of the reply
  raw_call_request call(am number, const_buffer args, mutable_buffer reply) const {
    return {name(), number, args, reply};
  }

  /// The same with values.
  /// \tparam R what the handler returns: void, or any value (value.hpp)
  /// \param number the number of the handler. One with another signature refuses the call, and the
  ///        error has both signatures: integers and floats of other sizes are other types; a vector
  ///        and a span are the same
  /// \param args any values. As of `send_value`: variables, and the elements of a span or a
  ///        string_view, live unchanged until the end, since long ones are not copied; temporaries
  ///        are moved into the request
  /// \throws std::bad_alloc; what the `put` of a wire<T> throws
  template <class R, class... Args>
  typed_call_request<R> call(am number, Args&&... args) const;

  /// The same into an object that exists: a vector or a string gets the reply's length and keeps
  /// its memory, a span must have it.
  /// \param reply not touched by the caller until the end; after an error its value is not defined
  /// \param number, args as above
  template <class R, class... Args>
  typed_call_request<std::remove_cvref_t<R>&> call_into(R&& reply, am number, Args&&... args) const;

  /// Calls a handler that gives a stream of values, `ctx.on<async_generator<T>(...)>`, and yields
  /// the values in order. The first `next` makes the call, with its deadline. The handler is at
  /// most 16 values ahead of the reader, and sends a long value when the reader has come to it: a
  /// slow reader holds the handler back. Values that have come cost the peer credit until they are
  /// taken.
  ///
  ///     async_generator<row> rows = peer.call_stream<row>(am{4}, query);
  ///     while (row* r = co_await rows.next()) use(*r);
  ///
  /// A `next` ends with the errors of a call, after the values that were sent before the failure,
  /// and then the stream has ended. A reader that needs no more destroys the generator: the handler
  /// is stopped. The generator must not outlive the context.
  /// \tparam T of the handler's values, as R of `call`. A value that does not fit ends the stream
  ///        with errc::refused
  /// \param number the number of the handler
  /// \param args as of `call`, all copied
  /// \throws weft::error (invalid_argument) if this endpoint names no peer; std::bad_alloc
  template <class T, class... Args>
  async_generator<T> call_stream(am number, const Args&... args) const;

  /// Calls a handler without a reply. Ends as `send`: when `args` may be used again. A post for
  /// which there is no handler is dropped there (metrics::posts_dropped).
  send_request post_bytes(am number, const_buffer args) const {
    return {name(), detail::post_tag(number), args};
  }
  /// \param number, args as of `call`
  template <class... Args>
  typed_post_request post(am number, Args&&... args) const;

  // RMA on a `region` of the peer. The peer's application takes no part: the peer's thread that
  // makes progress serves the operation. An operation ends when it has been done at the peer. Any
  // number may be in flight; their order is not defined, except that a put's notification comes
  // after its bytes. Each ends with the errors of the class, and with errc::refused when the region
  // has ended, is too short, or does not have the right. A stopped operation ends at once, and the
  // peer may still do it; where a device copies by itself, a stopped operation ends after the copy.
  // `close`, by either side, ends operations in flight with errc::closed.

  /// Writes into the peer's memory.
  /// \param data any number of bytes, at most those of `to`; unchanged by the caller until the end
  /// \param to   its first bytes are written
  /// \param then the notification for region::notified of the region's owner, which comes after the
  ///        bytes. The put ends with errc::out_of_memory if 4096 notifications wait there
  transfer_request put(const_buffer data, remote_region to, std::optional<notify> then = {}) const {
    return {{.to = name(), .kind = detail::rma_kind::put, .where = to, .data = data, .then = then}};
  }

  /// A put of no bytes: sends the notification `what` to the region's owner.
  transfer_request signal(remote_region to, notify what) const { return put({}, to, what); }

  /// Reads from the peer's memory.
  /// \param into filled; at most as many bytes as `from` has
  /// \param from its first bytes are read
  transfer_request get(mutable_buffer into, remote_region from) const {
    return {{.to = name(), .kind = detail::rma_kind::get, .where = from, .into = into}};
  }

  /// Adds to a word of the peer's memory, wrapping around. Atomic with regard to fetch_add,
  /// compare_swap, and std::atomic_ref at the peer.
  /// \param word   its first 8 bytes, at a multiple of 8; the region has rights::read_write
  /// \param addend the number that is added
  /// \return the former value
  update_request fetch_add(remote_region word, std::uint64_t addend) const {
    return {{.to = name(), .kind = detail::rma_kind::fetch_add, .where = word, .operand = addend}};
  }

  /// Stores `desired` if the word equals `expected`.
  /// \return the former value
  update_request compare_swap(remote_region word, std::uint64_t expected,
                              std::uint64_t desired) const {
    return {{.to = name(),
             .kind = detail::rma_kind::compare_swap,
             .where = word,
             .operand = desired,
             .expected = expected}};
  }

  // The same on elements of a type: <weft/region_of.hpp> documents and defines these. `put` writes
  // as many elements as it is given, `get` reads as many as there is room for. Atomics take
  // integers of 8 bytes, and return the former one.
  template <class T>
  transfer_request put(std::span<const std::type_identity_t<T>> values,
                       const remote_region_of<T>& to, std::optional<notify> then = {}) const;
  template <class T>
  transfer_request get(std::span<std::type_identity_t<T>> into,
                       const remote_region_of<T>& from) const;
  template <class T>
  auto put(const std::type_identity_t<T>& value, const remote_region_of<T>& to,
           std::optional<notify> then = {}) const;
  template <class T>
  auto get(const remote_region_of<T>& from) const;
  template <class T>
  auto load(const remote_region_of<T>& word) const;
  template <class T>
  transfer_request signal(const remote_region_of<T>& to, notify what) const;
  template <class T>
  auto fetch_add(const remote_region_of<T>& word, std::type_identity_t<T> addend) const;
  template <class T>
  auto compare_swap(const remote_region_of<T>& word, std::type_identity_t<T> expected,
                    std::type_identity_t<T> desired) const;

  /// Starts the orderly end: messages sent before still arrive, later operations end with
  /// errc::closed on both sides. Never blocks. After `closed()` the two sides may connect again,
  /// which gives another endpoint.
  void close();

  /// Ends when the peer has agreed or is lost.
  task<void> closed();

  /// Ends the connection at once, as if the peer had died: operations with the peer, also later
  /// ones, end with errc::peer_lost, on both sides, and what has not arrived is lost. For a peer
  /// that does not answer `close`. Never blocks. A peer that is no rank may be connected again.
  void abort();

  /// Number within the lane: the rank in a job, for the lane with the same number as this one.
  peer_id id() const noexcept { return id_; }

  /// That lane of the same process, which may be this one. Equal lanes are equal endpoints. If the
  /// process has no such lane, requests fail with invalid_argument. Of a peer on another host that
  /// has connected to this side, and whose context address is not known here, other lanes cannot be
  /// reached: requests fail with unreachable.
  /// \param number from 0 up; what options::lanes says over there is not known here
  /// \throws weft::error  invalid_argument: this process has no such lane, or no context can have
  ///        it; closed: a peer that is no rank has gone
  endpoint lane(unsigned number) const;

  unsigned lane_number() const;  ///< of the lane that it names, in its process
  peer_id rank() const;          ///< of its process; no_peer: it is no rank

  /// One line of text: the transport, and why no better one is used.
  std::string describe() const;

  explicit operator bool() const noexcept { return state_ != nullptr; }
  friend bool operator==(const endpoint&, const endpoint&) = default;

 private:
  friend struct detail::internals;
  explicit endpoint(std::shared_ptr<proto::peer> state) noexcept
      : state_(std::move(state)), id_(detail::peer_name(state_.get()).id) {}
  /// \throws weft::error (invalid_argument) if this endpoint names no peer
  proto::peer& peer() const;

  /// No peer for a reserved tag: an operation with that name ends with errc::invalid_argument.
  detail::peer_name name(tag_mask t) const noexcept {
    return {t.value < first_reserved_tag || detail::is_group_tag(t) ? state_.get() : nullptr, id_};
  }
  detail::peer_name name() const noexcept { return {state_.get(), id_}; }

  std::shared_ptr<proto::peer> state_;
  peer_id id_ = no_peer;
};

/// \cond
inline endpoint detail::internals::endpoint_of(std::shared_ptr<proto::peer> state) noexcept {
  return endpoint(std::move(state));
}
/// \endcond

}  // namespace weft
