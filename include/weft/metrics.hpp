// SPDX-License-Identifier: Apache-2.0
// Counters that a context keeps about itself.
#pragma once

#include <cstdint>

namespace weft {

/// A snapshot of counters, all since the context was made. Plain values.
struct metrics {
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t unexpected_messages = 0;    ///< arrived before their receive was posted
  std::uint64_t unexpected_bytes_now = 0;   ///< memory that they hold at this moment
  std::uint64_t unexpected_bytes_peak = 0;  ///< at most the budget and 3 KiB per peer
  std::uint64_t rendezvous = 0;             ///< messages that took the handshake
  std::uint64_t links_lost = 0;             ///< of peers that others still reach
  std::uint64_t frames_sent_again = 0;      ///< because the link that they left by was lost
  std::uint64_t sleeps = 0;                 ///< times that a thread slept in the wait set
  std::uint64_t nanoseconds_asleep = 0;
  std::uint64_t wake_ups = 0;             ///< times that it was woken by an event
  std::uint64_t empty_wake_ups = 0;       ///< woken, and nothing was there
  std::uint64_t doorbells_rung = 0;       ///< times that this process woke another
  std::uint64_t progress_iterations = 0;  ///< passes by the progress thread
  std::uint64_t rendezvous_gets = 0;  ///< messages whose rest was read out of their sender's memory
  std::uint64_t rendezvous_puts =
      0;                          ///< messages whose rest was written into the receiver's memory
  std::uint64_t rma_started = 0;  ///< puts, gets and atomics that peers have done for this side
  std::uint64_t rma_served = 0;   ///< and that this side was asked to do
  std::uint64_t bytes_put = 0;
  std::uint64_t bytes_got = 0;
  std::uint64_t streams_opened = 0;
  std::uint64_t stream_bytes_written = 0;
  std::uint64_t stream_bytes_read = 0;  ///< that have come to this end, also if it was closed
  std::uint64_t stream_waits = 0;       ///< times that a write found no room in the reader's window
  // Memory that transports registered with devices.
  std::uint64_t registration_hits = 0;            ///< found registered, in just that range
  std::uint64_t registration_sub_range_hits = 0;  ///< and as part of a longer range
  std::uint64_t memory_registrations = 0;
  std::uint64_t registration_evictions = 0;  ///< to make room for others
  std::uint64_t registered_bytes = 0;        ///< registered at this moment
  // Of long messages to peers with several links, known to have arrived.
  std::uint64_t striped_bytes = 0;
  std::uint64_t striped_bytes_other_links = 0;  ///< of these, over others than the first link
};

}  // namespace weft
