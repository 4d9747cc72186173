// SPDX-License-Identifier: Apache-2.0
// The counters of a context.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/message.hpp>

namespace weft {

/// What this side has exchanged with one peer, or with several. What one side has sent and started
/// is what the other side has received and served, once all of it has come: messages count where
/// they meet their receive. Loans may also be copied, so fewer are viewed than sent. Messages are
/// those of the application and of weft's own: of calls, collectives, streams and topics.
struct traffic_metrics {
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t calls_made = 0;      ///< calls of this side that got their reply
  std::uint64_t calls_served = 0;    ///< calls and posts of the peer that a handler has served
  std::uint64_t loans_sent = 0;      ///< messages that the peer may read where they lie
  std::uint64_t loans_viewed = 0;    ///< messages that were received without a copy (recv_loan)
  std::uint64_t rma_started = 0;     ///< puts, gets and atomics of this side that the peer has done
  std::uint64_t rma_served = 0;      ///< puts, gets and atomics that the peer asked of this side
  std::uint64_t bytes_put = 0;       ///< by this side into the peer's memory
  std::uint64_t bytes_got = 0;       ///< by this side out of the peer's memory
  std::uint64_t bytes_put_here = 0;  ///< by the peer into this side's memory
  std::uint64_t bytes_got_here = 0;  ///< by the peer out of this side's memory

  traffic_metrics& operator+=(const traffic_metrics& other) noexcept {
    messages_sent += other.messages_sent;
    messages_received += other.messages_received;
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    calls_made += other.calls_made;
    calls_served += other.calls_served;
    loans_sent += other.loans_sent;
    loans_viewed += other.loans_viewed;
    rma_started += other.rma_started;
    rma_served += other.rma_served;
    bytes_put += other.bytes_put;
    bytes_got += other.bytes_got;
    bytes_put_here += other.bytes_put_here;
    bytes_got_here += other.bytes_got_here;
    return *this;
  }
};

/// Of the connections of the transport `tcp`. What one side has sealed is what the other side has
/// opened, once all of it has come.
struct connection_metrics {
  std::uint64_t segments_sent_again = 0;    ///< by the kernel (tcpi_total_retrans)
  std::uint64_t connections_encrypted = 0;  ///< by TLS, of those that were made
  std::uint64_t bytes_sealed = 0;  ///< that TLS has encrypted: frames, with headers and payload
  std::uint64_t bytes_opened = 0;  ///< that TLS has decrypted, and found authentic

  connection_metrics& operator+=(const connection_metrics& other) noexcept {
    segments_sent_again += other.segments_sent_again;
    connections_encrypted += other.connections_encrypted;
    bytes_sealed += other.bytes_sealed;
    bytes_opened += other.bytes_opened;
    return *this;
  }
};

/// A snapshot of counters, all since the context was made. Plain values.
struct metrics : traffic_metrics, connection_metrics {
  using traffic_metrics::operator+=;
  using connection_metrics::operator+=;

  std::uint64_t unexpected_messages = 0;    ///< arrived before their receive was posted
  std::uint64_t unexpected_bytes_now = 0;   ///< memory of the unexpected messages at this moment
  std::uint64_t unexpected_bytes_peak = 0;  ///< at most the budget and 3.4 KiB per peer
  std::uint64_t rendezvous = 0;             ///< messages that needed a handshake
  std::uint64_t links_lost = 0;             ///< while other links to the peer remained
  std::uint64_t frames_sent_again = 0;      ///< because their first link was lost
  std::uint64_t sleeps = 0;                 ///< times that a thread slept in the wait set
  std::uint64_t nanoseconds_asleep = 0;
  std::uint64_t wake_ups = 0;             ///< times that an event woke a sleeping thread
  std::uint64_t empty_wake_ups = 0;       ///< wake-ups that found nothing
  std::uint64_t doorbells_rung = 0;       ///< wake-ups sent to other processes
  std::uint64_t progress_iterations = 0;  ///< passes by the progress thread
  std::uint64_t rendezvous_gets = 0;      ///< messages with a payload read from the sender's memory
  std::uint64_t rendezvous_puts = 0;  ///< messages with a payload written to the receiver's memory
  std::uint64_t shared_copy_chunks = 0;  ///< parts of payloads that this side wrote for a receiver
  std::uint64_t streams_opened = 0;
  std::uint64_t stream_bytes_written = 0;
  std::uint64_t stream_bytes_read = 0;  ///< bytes that arrived, also after this end was closed
  std::uint64_t stream_waits = 0;       ///< writes that found no space in the reader's window
  std::uint64_t calls_refused = 0;      ///< of calls_served, answered with errc::refused
  std::uint64_t posts_dropped = 0;      ///< posts without a handler, or whose handler failed
  /// Messages that peers have sent well and that no receive got: one was stopped in the middle of a
  /// message of more than 8 KiB, or could not hold its value; or the message was claimed and
  /// discarded, or came for a collective or a call that had been given up.
  std::uint64_t messages_dropped = 0;
  // Memory that transports registered with devices.
  std::uint64_t registration_hits = 0;            ///< registrations found in the cache
  std::uint64_t registration_sub_range_hits = 0;  ///< registrations found as part of a longer range
  std::uint64_t memory_registrations = 0;
  std::uint64_t registration_evictions = 0;  ///< registrations ended to make room
  std::uint64_t registered_bytes = 0;        ///< registered at this moment
  // Of large messages to peers with several links; bytes that are known to have arrived.
  std::uint64_t striped_bytes = 0;
  std::uint64_t striped_bytes_other_links = 0;  ///< of these, over another link than the first
  std::uint64_t collectives = 0;                ///< collectives that this process has begun
  /// TLS handshakes that failed: the other end does not know the key, or is no peer. Those of the
  /// control plane, too; of a context with several lanes these are in the first one.
  std::uint64_t handshakes_failed = 0;
};

/// What was exchanged with one peer.
struct peer_metrics : traffic_metrics, connection_metrics {
  using traffic_metrics::operator+=;
  using connection_metrics::operator+=;

  peer_id peer = no_peer;  ///< its number, as endpoint::id has it
  std::string name;        ///< for people: "rank 1"
  /// The transport by which messages leave for it, or, before the first one, by which its messages
  /// come; empty: there was no connection yet.
  std::string transport;
  bool connected = false;  ///< at this moment
};

/// What was exchanged by one transport, also with peers that have gone.
struct transport_metrics : traffic_metrics {
  std::string transport;
};

/// All counters of one lane, of one moment.
struct lane_metrics {
  peer_id rank = 0;  ///< of the process
  unsigned lane = 0;
  metrics total;  ///< the sum of the peers, with those that have gone, and more
  std::vector<transport_metrics> transports;
  std::vector<peer_metrics> peers;  ///< those that are known: not all ranks
};

}  // namespace weft
