// SPDX-License-Identifier: Apache-2.0
// What weft's own layers know of a message in flight; weft/operations/messages.hpp has what users
// know of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include <weft/coro/operation.hpp>
#include <weft/message.hpp>

namespace weft::proto {
class peer;
class messenger;
struct inbound_message;
}  // namespace weft::proto

namespace weft::detail {

class lent_memory;

/// A peer, or null: any peer. Operations and requests do not keep a peer alive, so the memory of a
/// peer that has gone may become that of another peer. A peer's number is never used again. The
/// holder of the progress lock compares both numbers before it uses the address.
struct peer_name {
  peer_name(proto::peer* p) noexcept;  // NOLINT: for a peer that is known to exist
  peer_name(proto::peer* p, peer_id its) noexcept : peer(p), id(its) {}

  proto::peer* peer;
  peer_id id;
};

/// The first of the tags of `group::own_tag`, which are reserved and the application's all the
/// same: those with the same bits 63-53.
inline constexpr std::uint64_t first_group_tag = first_reserved_tag | std::uint64_t{1} << 53;
constexpr bool is_group_tag(tag_mask t) noexcept {
  return t.value >> 53 == first_group_tag >> 53 && t.exact();
}

/// One buffer or a list of them, for both directions. The list itself belongs to the caller and
/// must live until the operation has ended, like the memory that it names.
template <class Buffer>
class buffer_list {
 public:
  buffer_list(Buffer one) noexcept : one_(one) {}  // NOLINT: a buffer is a list of one
  buffer_list(std::span<const Buffer> many) noexcept : many_(many) {}  // NOLINT

  std::span<const Buffer> parts() const noexcept {
    return many_.data() ? many_ : std::span<const Buffer>(&one_, 1);
  }
  bool single() const noexcept { return many_.data() == nullptr; }
  const Buffer& front() const noexcept { return one_; }

  std::size_t size() const noexcept {
    if (single()) return one_.size();
    std::size_t n = 0;
    for (const Buffer& b : many_) n += b.size();
    return n;
  }

 private:
  Buffer one_{};
  std::span<const Buffer> many_{};
};

/// When a send counts as ended, and whether it waits behind others.
enum class send_mode : std::uint8_t {
  standard,     ///< the buffer may be used again; the message may still be on its way
  answer,       ///< the same, of a message that the peer waits for: sent before those that wait for
                ///< credit, with credit that is kept for it
  synchronous,  ///< in addition, the receiver has matched the message
  signal,       ///< weft's own messages of no bytes: sent before all others, without credit
  loan          ///< of a block of the loan pool: the receiver may read it in place. The operation
                ///< is the block's, and ends without a completion (proto/loans)
};
/// Whether such a send may leave within its call.
constexpr bool may_leave_at_once(send_mode m) noexcept { return m <= send_mode::answer; }

/// Sends a message of one frame with contiguous payload that can leave within the call: no
/// operation is needed. Any thread, but it succeeds only on the thread inside `run()`.
/// \param to,id the peer, by its address and its number (peer_name): as numbers, not as a structure
///        that would be copied through memory
/// \param immediate travels beside the tag; 0: none
/// \return false: nothing has happened
bool try_send_small(proto::peer* to, peer_id id, std::uint64_t tag, const_buffer data,
                    std::uint64_t immediate) noexcept;

/// The same for a signal (send_mode::signal).
bool try_send_signal(proto::peer* to, peer_id id, std::uint64_t tag,
                     std::uint64_t immediate) noexcept;

/// The same for several messages, as far as it succeeds. \return how many have left
std::size_t try_send_several(proto::peer* to, peer_id id, std::uint64_t tag,
                             std::span<const const_buffer> messages) noexcept;

/// A send in flight. Touched only with the progress lock held.
class send_state : public operation {
 public:
  std::size_t size = 0;       ///< bytes of the message
  std::size_t sent = 0;       ///< bytes that the transport has taken so far
  std::size_t eager_end = 0;  ///< bytes that are sent before the CTS
  std::uint16_t id = 0;       ///< names this send in the peer's answer; 0: needs no answer
  bool rendezvous = false;    ///< the bytes after eager_end wait for the answer
  bool begun = false;         ///< its first frame has left: a stop must tell the peer
  bool cancel_requested = false;
  std::chrono::steady_clock::time_point stopped_at{};  ///< set by a stop after it had begun

 protected:
  explicit send_state(complete_fn f) noexcept : operation(f) {}
  ~send_state() = default;
};

/// The base of recv_operation and probe_operation, which wait in a matching queue.
class match_operation : public operation {
 public:
  match_operation(proto::messenger* m, peer_name p, tag_mask t, std::uint8_t s,
                  complete_fn f) noexcept
      : operation(f), messenger(m), from(p.peer), tag(t), from_id(p.id), special(s) {}

  proto::messenger* const messenger;  ///< null if `from` is given
  proto::peer* const from;            ///< null: any source
  const tag_mask tag;
  const peer_id from_id;
  /// Stops it if no message has matched. \return whether it was still waiting for a message
  bool withdraw() noexcept;

  /// Leaves the message in the queue.
  bool probe() const noexcept { return (special & is_probe) != 0; }
  /// Takes more messages after the next one (recv_many_operation).
  bool stays() const noexcept { return (special & takes_more) != 0; }

  // In `special`: why a message does not take the short path to it. The last one is no reason.
  static constexpr std::uint8_t is_probe = 1;
  static constexpr std::uint8_t has_pieces = 4;    // more buffers than one
  static constexpr std::uint8_t is_elsewhere = 8;  // `on` is not null; set by the start
  static constexpr std::uint8_t is_traced = 16;    // set by the start
  static constexpr std::uint8_t takes_more = 32;

  std::uint8_t special;
  bool queued = false;
  bool cancel_requested = false;
  bool sized = false;  ///< a sized_recv_operation (value_ops.hpp)
  received got = {};   ///< filled when matched

  // Progress lock held: neighbours in the queue, order of posting among wildcards.
  match_operation* before = nullptr;
  match_operation* after = nullptr;
  std::uint64_t posted_at = 0;

 protected:
  ~match_operation() = default;
};

/// A receive in flight.
class recv_state : public match_operation {
 public:
  buffer_list<mutable_buffer> into;  ///< changed by recv_many_ and sized_recv_operation only
  /// Its message, from the match until all bytes have arrived.
  proto::inbound_message* message = nullptr;
  /// Of a sized receive that takes a loan as it lies: for that. Null: it only copies.
  lent_memory* view = nullptr;

 protected:
  recv_state(proto::messenger* m, const peer_name& source, tag_mask t,
             const buffer_list<mutable_buffer>& memory, complete_fn f) noexcept
      : match_operation(m, source, t, memory.single() ? 0 : has_pieces, f), into(memory) {}
  ~recv_state() = default;
};

}  // namespace weft::detail
