// SPDX-License-Identifier: Apache-2.0
// What one-sided operations are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <weft/detail/message_ops.hpp>
#include <weft/remote_region.hpp>

namespace weft::detail {

enum class rma_kind : std::uint8_t { put, get, fetch_add, compare_swap };

/// What is asked of a peer. `data` or `into` is the operation's until its end.
struct rma_request {
  peer_name to;
  rma_kind kind;
  remote_region where;
  const_buffer data = {};           ///< put
  mutable_buffer into = {};         ///< get
  std::optional<notify> then = {};  ///< put
  std::uint64_t operand = 0;        ///< what is added; what is stored
  std::uint64_t expected = 0;       ///< compare_swap
};

/// Why a peer did not do it; travels in one byte.
enum class rma_refusal : std::uint8_t {
  none,
  no_region,      ///< the target has no region with that key any more
  out_of_bounds,  ///< it ends before that
  no_right,       ///< it was not registered for that
  misaligned,     ///< an atomic word that does not lie on a multiple of 8 bytes
  unheard         ///< as many notifications as are kept have not been taken
};

class transfer_operation;
class update_operation;
class notified_operation;
class region_end_operation;

/// put and get.
struct transfer_request {
  using value_type = void;
  using operation_type = transfer_operation;
  rma_request order;
};

/// fetch_add and compare_swap: the word as it was before.
struct update_request {
  using value_type = std::uint64_t;
  using operation_type = update_operation;
  rma_request order;
};

struct region_end_request {
  using value_type = void;
  using operation_type = region_end_operation;
  proto::messenger* messenger;  ///< null: there was none
  std::uint64_t key;
};

struct notified_request {
  using value_type = notification;
  using operation_type = notified_operation;
  proto::messenger* messenger;
  std::uint64_t key;  ///< of the region
};

/// A put, get or atomic in flight. Everything below `order` is touched with the progress lock held
/// only.
class rma_operation : public operation {
 public:
  rma_operation(const rma_request& o, complete_fn f) noexcept : operation(f), order(o) {}
  bool start() noexcept;
  bool start_held() noexcept;  ///< the progress lock is held
  void cancel() noexcept;
  std::string explain() const;

  const rma_request order;
  std::size_t done = 0;       ///< bytes that have left, or come
  std::uint64_t found = 0;    ///< the word as it was
  std::uint16_t id = 0;       ///< how the peer names it in its answer; 0: it has not begun
  bool asked = false;         ///< all of it has left: it ends by the answer
  bool asks = false;          ///< it has asked whether the link may copy
  bool granted = false;       ///< the peer lets the link copy by itself, and waits to hear of it
  bool held_by_link = false;  ///< the link does: it ends when that has
  bool by_frames = false;     ///< the bytes go in frames, whatever the link can do
  bool cancel_requested = false;
  rma_refusal refusal = rma_refusal::none;

 protected:
  ~rma_operation() = default;
};

class transfer_operation : public rma_operation {
 public:
  transfer_operation(const transfer_request& r, complete_fn f) noexcept
      : rma_operation(r.order, f) {}
  void take() const noexcept {}
};

class update_operation : public rma_operation {
 public:
  update_operation(const update_request& r, complete_fn f) noexcept : rma_operation(r.order, f) {}
  std::uint64_t take() const noexcept { return found; }
};

/// Takes a region back. It cannot be stopped; for one that has ended there is nothing to do.
class region_end_operation : public operation {
 public:
  region_end_operation(const region_end_request& r, complete_fn f) noexcept
      : operation(f), messenger(r.messenger), key(r.key) {}
  bool start() noexcept;
  void cancel() const noexcept {}
  void take() const noexcept {}
  std::string explain() const { return "the end of this region is awaited already"; }

  proto::messenger* const messenger;
  const std::uint64_t key;
};

/// Waits for a notification. Progress lock held only, below `key`.
class notified_operation : public operation {
 public:
  notified_operation(const notified_request& r, complete_fn f) noexcept
      : operation(f), messenger(r.messenger), key(r.key) {}
  bool start() noexcept;
  bool start_held() noexcept;  ///< the progress lock is held
  void cancel() noexcept;
  notification take() const noexcept { return got; }
  std::string explain() const;

  proto::messenger* const messenger;
  const std::uint64_t key;
  notification got;
  bool waiting = false;
  bool cancel_requested = false;
};

}  // namespace weft::detail
