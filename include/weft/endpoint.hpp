// SPDX-License-Identifier: Apache-2.0
// endpoint: a peer to talk to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weft/claim.hpp>
#include <weft/coro/task.hpp>
#include <weft/detail/message_ops.hpp>
#include <weft/detail/rma_ops.hpp>

namespace weft {

class context;

/// A peer: a rank of the job, or a process that `connect` and `accept` brought. A cheap handle;
/// copies name the same peer. It must not outlive its context. Its functions may be called from any
/// thread; the requests that they return do nothing until awaited or started in a scope.
///
/// Messages from one sender with tags that match one receive are received in the order sent.
/// Every request throws `weft::error` when awaited: peer_lost, closed, stopped, truncated (receive
/// only), protocol_error, out_of_memory; and invalid_argument for a tag of weft's own
/// (first_reserved_tag). When it has ended, its buffers are the caller's again.
class endpoint {
 public:
  endpoint() = default;  ///< names no peer: whatever is asked of it fails with invalid_argument

  /// Sends a message. Ends when `data` may be used again; the message may still be on its way.
  /// \param data any number of bytes, also none (`const_buffer{}`; a bare `{}` could be a list);
  ///             unchanged by the caller until the end
  /// \param t    what the receiver selects by
  /// \param immediate a word that goes along, and that the receiver gets in received::immediate;
  ///             no receive selects by it (InfiniBand's immediate data, libfabric's remote CQ data)
  detail::send_request send(const_buffer data, tag t, std::uint64_t immediate = 0) const {
    return {name(t), t, data, detail::send_mode::standard, immediate};
  }

  /// The same, gathered from several pieces, in order. `list` must live until the end too.
  detail::send_request send(std::span<const const_buffer> list, tag t,
                            std::uint64_t immediate = 0) const {
    return {name(t), t, list, detail::send_mode::standard, immediate};
  }

  /// As `send`, but ends only when the receiver has matched the message.
  detail::send_request send_synchronous(const_buffer data, tag t,
                                        std::uint64_t immediate = 0) const {
    return {name(t), t, data, detail::send_mode::synchronous, immediate};
  }

  /// Receives a message from this peer. Stopped while the message arrives, it ends at once and the
  /// message is lost (docs/lifetimes.md has the way around that).
  /// \param into where it goes; a longer message fills it and ends with errc::truncated
  /// \param t    a tag, `any_tag`, or a value with a mask
  detail::recv_request recv(mutable_buffer into, tag_mask t) const {
    return {nullptr, name(t), t, into};
  }

  /// The same, scattered over several pieces, in order. `list` must live until the end too.
  detail::recv_request recv(std::span<const mutable_buffer> list, tag_mask t) const {
    return {nullptr, name(t), t, list};
  }

  /// Ends when a matching message is there, and leaves it there.
  detail::probe_request probe(tag_mask t) const { return {nullptr, name(t), t}; }

  /// The same without waiting: nothing, if no such message has arrived.
  /// \throws weft::error (invalid_argument)
  std::optional<received> try_probe(tag_mask t) const;

  /// As `try_probe`, but takes the message out: its holder receives it, and no other receive can.
  /// \throws weft::error (invalid_argument)
  std::optional<claimed_message> try_claim(tag_mask t) const;

  // One-sided access to memory that the peer has made a `region` of. Its application takes no part:
  // the thread that moves its messages does it. Ends when it has been done there. Any number may be
  // under way; which of these is done first is not said, except that a put's own notification comes
  // after its bytes. Each ends with the errors of the class, and with errc::refused when the region
  // has ended, is too short or was not registered for that. One that is stopped ends at once, and
  // may be done there nevertheless; only where a device copies by itself it waits for that to end.
  // `close`, by either side, ends those under way with errc::closed.

  /// Writes into the peer's memory.
  /// \param data any number of bytes, at most those of `to`; unchanged by the caller until the end
  /// \param to   where; its first bytes are written
  /// \param then what the region's owner takes by region::notified, with the bytes in place. Ends
  ///             with errc::out_of_memory if 4096 wait there that were not taken
  detail::transfer_request put(const_buffer data, remote_region to,
                               std::optional<notify> then = {}) const {
    return {{.to = name(), .kind = detail::rma_kind::put, .where = to, .data = data, .then = then}};
  }

  /// A put of nothing: tells the region's owner `what`.
  detail::transfer_request signal(remote_region to, notify what) const { return put({}, to, what); }

  /// Reads from the peer's memory.
  /// \param into filled; at most as many bytes as `from` has
  detail::transfer_request get(mutable_buffer into, remote_region from) const {
    return {{.to = name(), .kind = detail::rma_kind::get, .where = from, .into = into}};
  }

  /// Adds to a word of the peer's memory, wrapping around, in one step for all who use these two
  /// and std::atomic_ref there. \param word the first 8 bytes of it, at a multiple of 8; the region
  /// has rights::read_write \return what it was before
  detail::update_request fetch_add(remote_region word, std::uint64_t addend) const {
    return {{.to = name(), .kind = detail::rma_kind::fetch_add, .where = word, .operand = addend}};
  }

  /// Stores `desired` there if the word is `expected`. \return what it was before
  detail::update_request compare_swap(remote_region word, std::uint64_t expected,
                                      std::uint64_t desired) const {
    return {{.to = name(),
             .kind = detail::rma_kind::compare_swap,
             .where = word,
             .operand = desired,
             .expected = expected}};
  }

  /// Starts the orderly end: what was sent before still arrives, later operations end with
  /// errc::closed on both sides. Never blocks. After `closed()` the two may connect again, which
  /// gives another endpoint.
  void close();

  /// Ends when the peer has agreed or is lost.
  task<void> closed();

  /// Number within the context: the rank in a job.
  peer_id id() const noexcept { return id_; }

  /// One line for people: which transport, and why not a better one.
  std::string describe() const;

  explicit operator bool() const noexcept { return state_ != nullptr; }
  friend bool operator==(const endpoint&, const endpoint&) = default;

  /// For the layers below; applications get endpoints from a context, group or listener.
  explicit endpoint(std::shared_ptr<proto::peer> state) noexcept
      : state_(std::move(state)), id_(detail::peer_name(state_.get()).id) {}
  proto::peer* state() const noexcept { return state_.get(); }
  /// \throws weft::error (invalid_argument) if it names no peer
  proto::peer& peer() const;

 private:
  /// No peer for a tag of weft's own: what is started with that ends with errc::invalid_argument.
  detail::peer_name name(tag_mask t) const noexcept {
    return {t.value < first_reserved_tag ? state() : nullptr, id_};
  }

  detail::peer_name name() const noexcept { return {state(), id_}; }

  std::shared_ptr<proto::peer> state_;
  peer_id id_ = no_peer;
};

}  // namespace weft
