// SPDX-License-Identifier: Apache-2.0
// A message that has begun to arrive.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include <weft/coro/detail/timer.hpp>
#include <weft/operations/messages.hpp>

#include "proto/frames/frames.hpp"

namespace weft::proto {

class peer;

struct inbound_message;

struct call_line;

/// What the payload of a rendezvous needs at its receiver.
struct inbound_payload {
  remote_address at;           ///< where the sender's data can be read
  remote_address expected_at;  ///< where the link lets the sender write
  local_id id = 0;             ///< this side's number of the message, once it has requested data
  local_id read_id = 0;        ///< number of the read by the link; 0: none
  bool readable = false;       ///< `at` is known, and reading there has not failed
  bool told = false;           ///< the sender has been told that the data was read
  bool expected = false;       ///< the sender may write to `expected_at`
  bool stopping = false;       ///< the receive was stopped, but the link may be writing
  bool waits_for_link =
      false;                  ///< the rest will be requested, or read, when the link can take that
  bool measured = false;      ///< the cost of its payload scheme is to be noted
  bool by_get = false;        ///< that scheme
  std::uint64_t payload = 0;  ///< bytes that had not arrived when the scheme was chosen
  detail::time_point stopped_at{};         ///< set with `stopping`
  detail::time_point requested_at{};       ///< when its request came
  detail::time_point begun_at{};           ///< when the last of its eager data came
  detail::time_point fetched_at{};         ///< when the scheme was chosen
  inbound_message* next_to_ask = nullptr;  ///< in the list of messages that wait for the link

  /// The link may write to the receive's memory at any time.
  bool in_hands_of_link() const noexcept { return read_id != 0 || expected; }
};

/// For `unexpected_queue`: neighbours among all unexpected messages, among those of the peer, those
/// with the same tag, and (for the oldest of these) in a bucket.
struct unexpected_neighbours {
  inbound_message* earlier = nullptr;
  inbound_message* later = nullptr;
  inbound_message* of_peer_before = nullptr;
  inbound_message* of_peer_after = nullptr;
  inbound_message* ring_before = nullptr;
  inbound_message* ring_after = nullptr;
  inbound_message* bucket_before = nullptr;
  inbound_message* bucket_after = nullptr;
  std::uint64_t arrived_as = 0;
  bool oldest = false;
};

/// A message that has begun to arrive and is not finished: unexpected, matched and incomplete, or
/// given up (its receive was stopped meanwhile). Owned by the messenger's pool. Its bytes go to the
/// receive's buffers if it is matched, to memory that the unexpected budget pays for if it is
/// unexpected, else they are dropped.
struct inbound_message : inbound_payload, unexpected_neighbours {
  struct free_memory {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };

  peer* from = nullptr;
  std::uint64_t tag = 0;
  std::uint64_t immediate = 0;
  std::uint64_t total = 0;  ///< bytes of the message
  std::uint64_t arrived =
      0;  ///< bytes received, including those beyond the receive's buffers, which are dropped

  /// Of a call: where it waits, and may be taken back; null: nowhere.
  call_line* waits_in = nullptr;

  recv_operation* receive = nullptr;  ///< null: unexpected or given up
  transports::scatter into;           ///< where the byte `arrived` goes
  std::uint64_t room = 0;             ///< bytes that the receive's buffers take

  static constexpr std::size_t short_size = 64;
  std::byte* stored =
      nullptr;  ///< while unexpected: in `brief` if it is short, else in `allocated`
  std::uint64_t stored_size = 0;
  std::uint64_t charged =
      0;  ///< bytes charged to the budget while unexpected, those of this object included
  std::unique_ptr<std::byte[], free_memory> allocated;
  std::array<std::byte, short_size> brief;

  std::uint32_t eager_units = 0;  ///< credit that the message holds
  std::uint32_t reserved = 0;     ///< units of the budget that it holds without credit
  local_id sender_id = 0;         ///< the sender's number of the message; 0: it needs no answer
  bool rendezvous = false;        ///< the rest waits for an answer
  bool eager_done = false;        ///< all of the part that was not requested is here
  bool given_up = false;          ///< was matched, but is not wanted any more
  bool claimed = false;           ///< unexpected, and will be received by the call that claimed it
  bool used = false;              ///< not wanted any more because it has been read where it lies
  bool cancel_came = false;       ///< the sender wants it back, and it was matched
  bool is_signal = false;         ///< it holds no credit: the receiver counts it
  bool is_call = false;           ///< unexpected, for the call table instead of a receive
  bool placing = false;           ///< the transport knows where its next frame belongs
  bool lent = false;              ///< may be read where it lies

  bool whole() const noexcept { return arrived == total; }
  /// All bytes that the peer sends without a request are here.
  bool complete() const noexcept { return whole() && eager_done; }
  received about() const noexcept;
  /// Nothing more will come, and no answer is waited for: a receive that takes it has it at once.
  bool ready(bool peer_is_gone) const noexcept {
    return peer_is_gone || (complete() && sender_id == 0);
  }
  bool unexpected() const noexcept { return !receive && !given_up; }
  /// Of a call without a receive: the call table has it, whole, or with its first bytes.
  bool is_dispatched() const noexcept {
    return rendezvous ? arrived != 0 || eager_done : complete();
  }
  /// Of a matched message: where its rest goes, if that is one piece of memory; else empty.
  mutable_buffer place_of_rest() const noexcept {
    const mutable_buffer run = into.run(total - arrived);
    return run.size() == total - arrived ? run : mutable_buffer{};
  }

  /// Resets the object for the pool; `brief` keeps old bytes.
  void reset() noexcept {
    from = nullptr;
    arrived = 0;
    receive = nullptr;
    room = 0;
    stored = nullptr;
    stored_size = charged = 0;
    allocated.reset();
    eager_units = reserved = 0;
    sender_id = id = read_id = 0;
    requested_at = fetched_at = {};
    rendezvous = eager_done = waits_for_link = given_up = readable = false;
    is_call = false;
    waits_in = nullptr;
    measured = claimed = is_signal = expected = stopping = told = placing = used = false;
    cancel_came = lent = false;
  }

  /// Whether `n` bytes may come in this form: null exactly if they were to lie where `place` said.
  /// If the receive was stopped meanwhile, both forms are right.
  bool comes_as_said(const std::byte* data, std::uint64_t n) const noexcept {
    return n == 0 || (data ? !placing || !receive : placing);
  }

  /// Takes the next `n` bytes, for which comes_as_said is true; null: they lie where `place` said.
  /// The caller checked that they do not exceed `total`.
  void take(const std::byte* data, std::uint64_t n) noexcept {
    placing = false;
    if (receive && !data) {
      into.skip(n);
    } else if (receive) {
      copy_in(into, data, arrived < room ? std::min(n, room - arrived) : 0);
    } else if (stored && n != 0) {
      std::memcpy(stored + arrived, data, n);
    }
    arrived += n;
  }

  /// Takes `n` bytes from `offset` on, in any order; null: they lie where `place_at` said. Each
  /// byte once.
  void take_at(std::uint64_t offset, const std::byte* data, std::uint64_t n) noexcept {
    if (receive && data && offset < room) {
      transports::scatter from_there(receive->into.parts(), offset);
      copy_in(from_there, data, std::min(n, room - offset));
    }
    arrived += n;
  }

  /// Where the bytes from `offset` on go, at most `n`; empty: no place.
  mutable_buffer place_at(std::uint64_t offset, std::uint64_t n) const noexcept {
    if (!receive || offset >= room) return {};
    return transports::scatter(receive->into.parts(), offset).run(n);
  }

  /// Where the bytes from `arrived` + `already` on go, at most `n`; empty: no place.
  mutable_buffer place(std::uint64_t already, std::uint64_t n) const noexcept {
    if (!receive || arrived + already >= room) return {};
    transports::scatter rest = into;
    rest.skip(already);
    return rest.run(n);
  }

  /// As frame_sink::place, for a frame of `size` bytes that comes next.
  mutable_buffer place_next(std::uint64_t size, std::uint64_t already) noexcept {
    if (size > total - arrived || already >= size) return {};
    const mutable_buffer there = place(already, size - already);
    placing = placing || !there.empty();
    return there;
  }

  /// Matches the message with its receive: copies the stored bytes there; the rest will follow.
  void match(recv_operation& op) noexcept {
    receive = &op;
    op.message = this;
    into = transports::scatter(op.into.parts());
    room = op.into.size();
    if (stored) copy_in(into, stored, std::min(arrived, room));
    stored = nullptr;
    allocated.reset();
  }

  /// The receive of a matched message has got its memory; nothing has come yet.
  void remake_room() noexcept {
    into = transports::scatter(receive->into.parts());
    room = receive->into.size();
  }

  /// Whether all that has come of a matched message is in its receive's buffers, and no more.
  bool is_all_there() const noexcept { return !placing && arrived <= room; }
  /// Takes the message back from its receive, with what has come, to `stored`.
  recv_operation& take_back() noexcept {
    recv_operation& op = unmatch();
    transports::scatter written(op.into.parts());
    for (std::uint64_t n = 0; n != arrived;) {
      const mutable_buffer run = written.run(arrived - n);
      std::memcpy(stored + n, run.data(), run.size());
      written.skip(run.size());
      n += run.size();
    }
    return op;
  }

  /// Moves the message to another receive, to which the caller has copied the bytes received so
  /// far.
  void divert(recv_operation& op) noexcept {
    unmatch();
    receive = &op;
    op.message = this;
    room = op.into.size();
    into = transports::scatter(op.into.parts(), std::min(arrived, room));
  }

  /// Detaches the message from its receive.
  recv_operation& unmatch() noexcept {
    recv_operation& op = *std::exchange(receive, nullptr);
    op.message = nullptr;
    return op;
  }
};
static_assert(sizeof(inbound_message) <= message_units * credit_unit,
              "what it costs is what it takes");

}  // namespace weft::proto
