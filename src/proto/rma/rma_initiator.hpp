// SPDX-License-Identifier: Apache-2.0
// One-sided access: the initiator.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/coro/detail/timer.hpp>
#include <weft/operations/access.hpp>

#include "proto/connection/frame_writer.hpp"
#include "proto/support/id_table.hpp"
#include "proto/support/protocol_coroutine.hpp"

namespace weft::proto {

/// Bytes that the access moves.
std::size_t size_of(const detail::rma_request& request) noexcept;

/// Puts, gets and atomics of this side in the memory of one peer. Long ones go in pieces that
/// follow each other; where the link can copy by itself, and prefers to, the peer grants a place in
/// the region instead. docs/adr/0024-one-sided-access.md; docs/wire-format.md, "Access to memory".
/// Part of `rma`. Progress lock held only.
class rma_initiator {
 public:
  rma_initiator(const protocol_services& s, frame_writer& w, peer_connection& c) noexcept
      : services_(&s), connection_(&c), writer_(&w) {}

  /// \return true if the operation has ended, with op.status set
  bool start(detail::rma_operation& op) noexcept;
  void cancel(detail::rma_operation& op) noexcept;

  bool on_got(const frame_header& h, const frame_extension& x, const std::byte* data) noexcept;
  bool on_accessed(const frame_extension& x) noexcept;
  bool on_granted(const frame_extension& x) noexcept;
  /// The link has copied by itself. \param id of the operation
  void on_transferred(std::uint16_t id, bool well) noexcept;
  /// As frame_sink::place, for `got`.
  mutable_buffer place(const frame_header& h, const frame_extension& x,
                       std::uint32_t already) const noexcept;
  /// Calls `act` for each access that was sent to the peer and is not over.
  template <class Action>
  void for_each(Action act) const {
    asked_.for_each([&](const detail::rma_operation& op) {
      if (&op != &stopped_) act(op);
    });
  }
  /// Of the accesses that were stopped while the link copied, and have not ended, the first stop;
  /// else time_point::max().
  detail::time_point oldest_stop() const noexcept;
  /// Whether an access has not ended.
  bool any_under_way() const noexcept { return under_way_ != 0; }
  /// The connection has ended: ends all accesses that were sent to the peer. The link has let go of
  /// all memory.
  void fail(errc why) noexcept;

 private:
  /// Stands in asked_ for operations that were stopped, and that the peer may still answer.
  class stopped_operation final : public detail::rma_operation {
   public:
    stopped_operation() noexcept;
  };

  static bool awaits(const detail::rma_operation& op, const frame_header& h,
                     const frame_extension& x) noexcept;
  bool asks_first(const detail::rma_operation& op) const noexcept;
  bool link_reads(remote_address from, std::size_t size) const noexcept;
  bool take_number(detail::rma_operation& op) noexcept;
  transports::post push(detail::rma_operation& op) noexcept;
  transports::post push_put(detail::rma_operation& op) noexcept;
  void go_on(detail::rma_operation& op) noexcept;
  protocol_coroutine pursue(detail::rma_operation& op) noexcept;
  void by_frames(detail::rma_operation& op) noexcept;
  void copied(detail::rma_operation& op) noexcept;
  void give_up(detail::rma_operation& op, errc status) noexcept;
  void finish(detail::rma_operation& op, errc status) noexcept;
  void end(detail::rma_operation& op, errc status) noexcept;
  void begin_again(detail::rma_operation& op) noexcept;
  void free_number(std::uint16_t id) noexcept;

  const protocol_services* services_;
  peer_connection* connection_;
  frame_writer* writer_;
  id_table<detail::rma_operation> asked_;
  stopped_operation stopped_;
  waiters numbers_;            // for a number in asked_
  std::size_t under_way_ = 0;  // operations of this side
};

}  // namespace weft::proto
