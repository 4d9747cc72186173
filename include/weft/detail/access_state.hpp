// SPDX-License-Identifier: Apache-2.0
// What weft's own layers know of an access to a peer's memory; weft/operations/access.hpp has what
// users know of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <weft/detail/message_state.hpp>
#include <weft/remote_region.hpp>

namespace weft::detail {

enum class rma_kind : std::uint8_t { put, get, fetch_add, compare_swap };

/// The parameters of an RMA operation. `data` or `into` belongs to the operation until its end.
struct [[nodiscard]] rma_request {
  peer_name to;
  rma_kind kind;
  remote_region where;
  const_buffer data = {};           ///< put
  mutable_buffer into = {};         ///< get
  std::optional<notify> then = {};  ///< put
  std::uint64_t operand = 0;        ///< fetch_add: the addend; compare_swap: the desired value
  std::uint64_t expected = 0;       ///< compare_swap
};

/// Why a target refused an operation; travels in one byte.
enum class rma_refusal : std::uint8_t {
  none,
  no_region,      ///< the target has no region with that key
  out_of_bounds,  ///< the region is too short
  no_right,       ///< the region's rights do not allow it
  misaligned,     ///< an atomic word that is not at a multiple of 8 bytes
  unheard         ///< the region's queue of notifications is full
};

/// A put, get or atomic in flight. The members after `order` are touched only with the progress
/// lock held.
class rma_operation : public operation {
 public:
  rma_operation(const rma_request& o, complete_fn f) noexcept : operation(f), order(o) {}
  bool start() noexcept;
  bool start_held() noexcept;  ///< the progress lock is held
  void cancel() noexcept;
  std::string explain() const;

  /// Called by the thread that makes progress, with the progress lock held, when the access has
  /// been done: may make `order` the next step of it, at the same peer. \return whether there is
  /// one
  using step_fn = bool (*)(rma_operation& done) noexcept;

  rma_request order;
  step_fn next_step = nullptr;  ///< null: it has one step
  std::size_t done = 0;         ///< bytes sent, or received
  std::uint64_t found = 0;      ///< the former word
  std::uint16_t id = 0;         ///< names this operation in the peer's answer; 0: it has not begun
  bool asked = false;           ///< all frames have left: the answer ends it
  bool asks = false;            ///< it has asked for a grant
  bool granted = false;         ///< it has a grant, and the peer waits for its end
  bool held_by_link = false;    ///< the link copies: the operation ends after the copy
  bool by_frames = false;       ///< the bytes go in frames, even if the link can copy
  bool cancel_requested = false;
  std::chrono::steady_clock::time_point stopped_at{};  ///< set by a stop while held_by_link
  rma_refusal refusal = rma_refusal::none;

 protected:
  ~rma_operation() = default;
};

/// The end of a region in flight.
class region_end_state : public operation {
 public:
  proto::messenger* const messenger;
  const std::uint64_t key;

 protected:
  region_end_state(proto::messenger* m, std::uint64_t k, complete_fn f) noexcept
      : operation(f), messenger(m), key(k) {}
  ~region_end_state() = default;
};

/// A wait for a notification. The members after `key` are touched only with the progress lock held.
class notified_state : public operation {
 public:
  proto::messenger* const messenger;
  const std::uint64_t key;
  notification got;
  bool waiting = false;
  bool cancel_requested = false;

 protected:
  notified_state(proto::messenger* m, std::uint64_t k, complete_fn f) noexcept
      : operation(f), messenger(m), key(k) {}
  ~notified_state() = default;
};

}  // namespace weft::detail
