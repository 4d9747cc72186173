// SPDX-License-Identifier: Apache-2.0
// A block of a loan pool, and the send of it.
#pragma once

#include <cstddef>

#include <weft/operations/loans.hpp>

#include "proto/frames/outbound_message.hpp"

namespace weft::proto {

class loan_pool;

/// One block. Owned by its pool; lent to a loan_memory, and from the send on to the peer's sender,
/// for which it is the operation: that one lasts longer than what the application awaits, until the
/// receiver has answered. Progress lock held, from the send on.
struct loan_block final : send_operation {
  loan_block(loan_pool& owner, std::byte* memory, std::size_t size, std::size_t list) noexcept
      : send_operation({detail::peer_name(nullptr, no_peer), weft::tag{}, const_buffer{},
                        detail::send_mode::loan},
                       nullptr),
        pool(&owner),
        at(memory),
        capacity(size),
        index(list) {}

  /// Prepares the block for a send.
  void renew(const send_request& r, loan_send_operation& waits) noexcept {
    request = r;
    front = &waits;
    status = errc::ok;
    size = sent = eager_end = 0;
    id = 0;
    rendezvous = begun = cancel_requested = false;
    message = outbound_message{this};
  }
  /// The message is on its way, or will never be: the application waits no longer.
  void hand_over(errc how) noexcept {
    if (loan_send_operation* const waits = std::exchange(front, nullptr)) waits->handed_over(how);
  }
  /// The receiver needs it no more, or the send has failed: it goes back to the pool.
  void finish(errc how) noexcept;

  loan_pool* const pool;
  std::byte* const at;
  const std::size_t capacity;  ///< bytes
  const std::size_t index;     ///< of its free list
  loan_block* next_free = nullptr;
  loan_send_operation* front = nullptr;  ///< what the application awaits; null: it has ended
  outbound_message message{this};        ///< once it has left without a coroutine
};

}  // namespace weft::proto
