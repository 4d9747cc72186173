// SPDX-License-Identifier: Apache-2.0
// What accesses to the memory of peers return (endpoint::put, get, signal, fetch_add and
// compare_swap; region::notified and end), and the operations that are made of it, with the
// functions that weft/operations/messages.hpp tells of.
//
//     transfer_operation op(peer.put(bytes, board), &has_ended);
//     loop.start(op);
//
// The bytes of a put stay unchanged until its end, and the room of a get is not touched.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include <weft/coro/detail/request.hpp>
#include <weft/detail/access_state.hpp>

namespace weft {

class transfer_operation;
class update_operation;
class notified_operation;
class region_end_operation;

/// What `endpoint::put`, `get` and `signal` return.
struct [[nodiscard]] transfer_request {
  using value_type = void;
  using operation_type = transfer_operation;
  detail::rma_request order;
};

/// What `endpoint::fetch_add` and `compare_swap` return; yields the former word.
struct [[nodiscard]] update_request {
  using value_type = std::uint64_t;
  using operation_type = update_operation;
  detail::rma_request order;
};

/// What `region::end` returns.
struct [[nodiscard]] region_end_request {
  using value_type = void;
  using operation_type = region_end_operation;
  proto::messenger* messenger;  ///< null: no region
  std::uint64_t key;
};

/// What `region::notified` returns; yields the notification.
struct [[nodiscard]] notified_request {
  using value_type = notification;
  using operation_type = notified_operation;
  proto::messenger* messenger;
  std::uint64_t key;  ///< of the region
};

/// A put or get in flight. Ends when the access has been done at the peer; `data` or `into` is the
/// caller's again then.
class transfer_operation : public detail::rma_operation {
 public:
  transfer_operation(const transfer_request& r, complete_fn f) noexcept
      : detail::rma_operation(r.order, f) {}
  void take() const noexcept {}
};

/// An atomic update in flight; `take` is the former word.
class update_operation : public detail::rma_operation {
 public:
  update_operation(const update_request& r, complete_fn f) noexcept
      : detail::rma_operation(r.order, f) {}
  std::uint64_t take() const noexcept { return found; }
};

/// The end of a region in flight. Cannot be stopped; does nothing for a region that has ended.
class region_end_operation : public detail::region_end_state {
 public:
  region_end_operation(const region_end_request& r, complete_fn f) noexcept
      : region_end_state(r.messenger, r.key, f) {}
  bool start() noexcept;
  void cancel() const noexcept {}
  void take() const noexcept {}
  std::string explain() const { return "the end of this region is awaited already"; }
};

/// A wait for a notification. Its bytes are visible when it has ended.
class notified_operation : public detail::notified_state {
 public:
  notified_operation(const notified_request& r, complete_fn f) noexcept
      : notified_state(r.messenger, r.key, f) {}
  bool start() noexcept;
  bool start_held() noexcept;
  void cancel() noexcept;
  notification take() const noexcept { return got; }
  std::string explain() const;
};

}  // namespace weft
