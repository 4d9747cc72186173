// SPDX-License-Identifier: Apache-2.0
// The operations of weft that a NIC has in flight.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bindings/vipl/nic/nic.hpp"

namespace weft::vipl {

/// A tag of messages that are never sent.
inline constexpr tag watch_tag{0x5649504c00000001};

/// A message on its way, in memory of its own.
class nic::outgoing final {
 public:
  outgoing(const endpoint& to, std::span<const std::byte> bytes)
      : bytes_(bytes.begin(), bytes.end()) {
    sends_.emplace(*this, to.post_bytes(am{handler_number}, bytes_));
  }
  /// Frees itself when it has left.
  void start() noexcept {
    if (sends_->start_held()) delete this;
  }

 private:
  struct sending final : send_operation {
    sending(outgoing& o, const send_request& r) noexcept
        : send_operation(r, [](operation& op) noexcept { delete &static_cast<sending&>(op).of; }),
          of(o) {}
    outgoing& of;
  };
  std::vector<std::byte> bytes_;
  std::optional<sending> sends_;
};

/// A peer with which VIs were connected. Its receive ends when the peer does.
struct nic::remote_nic final : recv_operation {
  remote_nic(nic& n, const endpoint& to)
      : recv_operation(to.recv(mutable_buffer{}, watch_tag),
                       [](operation& op) noexcept {
                         auto& self = static_cast<remote_nic&>(op);
                         self.owner.lost(self.peer.id());
                       }),
        owner(n),
        peer(to) {}
  nic& owner;
  const endpoint peer;
};

}  // namespace weft::vipl
