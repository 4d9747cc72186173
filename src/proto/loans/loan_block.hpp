// SPDX-License-Identifier: Apache-2.0
// A block of a loan pool, and the messages by which it is lent.
#pragma once

#include <cstddef>

#include <weft/operations/loans.hpp>

#include "proto/frames/outbound_message.hpp"

namespace weft::proto {

class loan_pool;
struct loan_block;

/// A block on its way to one receiver, or read by it: the operation of the peer's sender, which
/// lasts longer than what the application awaits, until the receiver has answered. The first one of
/// a block is part of it; further ones, where a block is lent to several receivers at once, are the
/// pool's. Progress lock held.
struct loan_message final : send_operation {
  explicit loan_message(loan_pool& owner) noexcept
      : send_operation({detail::peer_name(nullptr, no_peer), weft::tag{}, const_buffer{},
                        detail::send_mode::loan},
                       nullptr),
        pool(&owner) {}

  /// Prepares it for a send.
  void renew(const send_request& r, loan_block& what, loan_send_operation& waits) noexcept {
    request = r;
    block = &what;
    front = &waits;
    status = errc::ok;
    size = sent = eager_end = 0;
    id = 0;
    rendezvous = begun = cancel_requested = false;
    outbound = outbound_message{this};
  }
  /// The message is on its way, or will never be: the application waits no longer.
  void hand_over(errc how) noexcept {
    if (loan_send_operation* const waits = std::exchange(front, nullptr)) waits->handed_over(how);
  }
  /// The receiver needs the block no more, or the send has failed.
  void finish(errc how) noexcept;

  loan_pool* const pool;
  loan_block* block = nullptr;           ///< null: it is free
  loan_message* next_free = nullptr;     ///< of those of the pool
  loan_send_operation* front = nullptr;  ///< what the application awaits; null: it has ended
  outbound_message outbound{this};       ///< once it has left without a coroutine
};

/// One block. Owned by its pool, and used by its holders: each loan_memory, and each message until
/// its receiver has answered. The count of these is this process's own: peers answer, and cannot
/// write to it. Progress lock held, once it is shared.
struct loan_block {
  loan_block(loan_pool& owner, std::byte* memory, std::size_t size, std::size_t list) noexcept
      : pool(&owner), at(memory), capacity(size), index(list), first(owner) {}

  loan_pool* const pool;
  std::byte* const at;
  const std::size_t capacity;  ///< bytes
  const std::size_t index;     ///< of its free list
  std::size_t holders = 0;
  loan_block* next_free = nullptr;
  loan_message first;
};

}  // namespace weft::proto
