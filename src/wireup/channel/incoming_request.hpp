// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <weft/tls_files.hpp>

#include "wireup/base/identity.hpp"
#include "wireup/channel/channel.hpp"

namespace weft::wireup {

/// A connection request that has come to a listener and waits for a decision. One thread at a time,
/// any thread.
class incoming_request {
 public:
  virtual ~incoming_request() = default;  ///< neither accepted nor rejected: rejects
  virtual const identity& peer() const noexcept = 0;
  virtual const std::string& private_data() const noexcept = 0;
  /// Null: the requester has shown none.
  virtual const peer_certificate* certificate() const noexcept { return nullptr; }
  /// Accepts; the channel is live from now on. \return null: the request has ended
  virtual channel_ptr accept() = 0;
  virtual void reject(const std::string& reason) = 0;
  /// Whether the requester does not wait any more.
  virtual bool has_ended() const noexcept = 0;
};

}  // namespace weft::wireup
