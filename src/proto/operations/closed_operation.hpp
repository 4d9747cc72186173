// SPDX-License-Identifier: Apache-2.0
// Waiting for the end of a peer.
#pragma once

#include <memory>
#include <string>

#include <weft/coro/operation.hpp>

#include "proto/peer/peer.hpp"

namespace weft::proto {

class closed_operation;

/// The request of `closed`: ends when the peer is closed or lost.
struct closed_request {
  using value_type = void;
  using operation_type = closed_operation;
  std::shared_ptr<peer> remote;
};

/// For `co_await closed(p)`. Do not write `co_await closed_request{...}`: g++ 12 destroys such an
/// aggregate twice.
inline closed_request closed(peer& p) noexcept { return {p.shared_from_this()}; }

/// Ends by peer::end. Any thread.
class closed_operation : public operation {
 public:
  closed_operation(const closed_request& r, complete_fn f) noexcept
      : operation(f), peer_(r.remote) {}
  bool start() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  std::string explain() const { return "stopped on request"; }

 private:
  const std::shared_ptr<peer> peer_;
  bool waiting_ = false;
  bool cancel_requested_ = false;
};

}  // namespace weft::proto
