// SPDX-License-Identifier: Apache-2.0
// One-sided access to the memory of a peer, and its access to ours.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <weft/detail/rma_ops.hpp>

#include "proto/frames.hpp"
#include "proto/id_table.hpp"
#include "proto/protocol_coroutine.hpp"

namespace weft::proto {

class peer;
struct region_entry;

/// With the number of an access: what a link is asked to tell the end of.
inline constexpr std::uint64_t rma_cookie_bit = 1u << 17;

/// So many accesses by one side have no answer yet; later ones wait until one has. A peer that asks
/// for more is no correct peer.
inline constexpr std::size_t most_outstanding_rma = 1024;

/// Puts, gets and atomics between this side and one peer, in both directions. They need neither
/// matching nor credit: the engine that a frame comes to does what it says at once and answers, so
/// nothing of it is kept here. Long ones go in pieces that follow each other; where the link can
/// copy by itself, and prefers to, one side grants it a place in the region instead.
/// docs/adr/0024-one-sided-access.md; docs/wire-format.md, "Access to memory".
///
/// Made for the first access in either direction, owned by the peer. Progress lock held only.
class rma {
 public:
  explicit rma(peer& p) noexcept;

  // --- this side asks (rma_initiator.cpp) -------------------------------------------------------

  /// \return true if it has ended, with op.status set
  bool start(detail::rma_operation& op) noexcept;
  void cancel(detail::rma_operation& op) noexcept;

  bool on_got(const frame_header& h, const frame_extension& x, const std::byte* data) noexcept;
  bool on_accessed(const frame_extension& x) noexcept;
  bool on_granted(const frame_extension& x) noexcept;
  /// The link has copied by itself. \param id the operation's
  void on_transferred(std::uint16_t id, bool well) noexcept;

  // --- the peer asks (rma_target.cpp) -------------------------------------------------------

  bool on_put(const frame_header& h, const frame_extension& x, const std::byte* data) noexcept;
  bool on_get(const frame_header& h, const frame_extension& x) noexcept;
  bool on_update(const frame_header& h, const frame_extension& x) noexcept;
  bool on_released(const frame_extension& x) noexcept;
  /// A frame of this side's answers has left.
  void on_left(frame_kind kind, const frame_extension& x) noexcept;
  /// An operation waits for room to send what the peer wanted to read.
  bool serving() const noexcept { return serving_ != 0; }

  // --- both -------------------------------------------------------------------------------------

  /// As frame_sink::place: where the bytes of a put, or those of a get's answer, go.
  mutable_buffer place(const frame_header& h, const frame_extension& x,
                       std::uint32_t already) noexcept;

  /// Ends all that was asked of the peer. Its link has let go of all memory.
  void fail(errc why) noexcept;

 private:
  /// What the peer's link may copy by itself.
  struct grant {
    remote_address where;
    std::uint64_t key;
    bool told;  ///< the frame that says so has left
  };
  /// What the peer wants to read, on its way.
  struct reading {
    std::uint64_t key;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t sent;
    std::uint16_t id;
  };
  class nobody final : public detail::rma_operation {
   public:
    nobody() noexcept;
  };

  static bool awaits(const detail::rma_operation& op, const frame_header& h,
                     const frame_extension& x) noexcept;
  bool asks_first(const detail::rma_operation& op) const noexcept;
  bool take_number(detail::rma_operation& op) noexcept;
  transports::post push(detail::rma_operation& op) noexcept;
  transports::post push_put(detail::rma_operation& op) noexcept;
  void go_on(detail::rma_operation& op) noexcept;
  protocol_coroutine pursue(detail::rma_operation& op) noexcept;
  void by_frames(detail::rma_operation& op) noexcept;
  void copied(detail::rma_operation& op) noexcept;
  void give_up(detail::rma_operation& op, errc status) noexcept;
  errc reason(const detail::rma_operation& op) const noexcept;
  void finish(detail::rma_operation& op, errc status) noexcept;
  void free_number(std::uint16_t id) noexcept;

  bool linked() const noexcept;
  bool admit() noexcept;
  mutable_buffer place_of_put(const frame_header& h, const frame_extension& x,
                              detail::rma_refusal& why) const noexcept;
  bool note_refusal(const frame_header& h, std::uint16_t id, detail::rma_refusal why) noexcept;
  bool goes_on_refused(const frame_header& h, std::uint16_t id) const noexcept;
  bool may_err(detail::rma_refusal why) noexcept;
  void answer(std::uint16_t id, detail::rma_refusal why, std::uint64_t word = 0) noexcept;
  void refuse_grant(std::uint16_t id) noexcept;
  bool grants(std::uint16_t id, std::uint64_t key, std::optional<remote_address> where) noexcept;
  enum class withdrawn : std::uint8_t { nothing, well, untold };
  withdrawn withdraw(std::uint16_t id) noexcept;
  void drop(const grant& g) noexcept;
  transports::post send_got(reading& r) noexcept;
  protocol_coroutine serve(reading r) noexcept;

  peer& peer_;

  // This side asks.
  id_table<detail::rma_operation> asked_;
  nobody nobody_;    // in asked_ for those that were stopped, and that the peer may still answer
  waiters numbers_;  // for a number in asked_

  // The peer asks.
  std::size_t unanswered_ = 0;
  std::size_t serving_ = 0;
  std::unordered_map<std::uint16_t, grant> grants_;  // by the number of the peer's operation
  std::uint32_t wrong_keys_ = 0;
  // Puts whose beginning was; their end is to come, or they were stopped. At most one for each
  // number.
  std::unordered_set<std::uint16_t> refused_;
};

}  // namespace weft::proto
