// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "wireup/auth/job_key.hpp"
#include "wireup/tcp/encryption.hpp"

namespace weft::wireup {

/// How contexts on other hosts reach this one, and it them.
struct tcp_settings {
  job_key key = {};                          ///< empty: no TCP at all, neither in nor out
  std::vector<std::string> interfaces = {};  ///< whose addresses peers are told; none: all
  std::chrono::seconds peer_timeout{10};     ///< silence after which a TCP channel is broken
  bool listens = true;                       ///< false: out only
  /// Of the program's listeners and connections to their addresses; empty: `key`. Context addresses
  /// carry `key`, so that of a standalone context is its own, and not the one of WEFT_JOB_KEY.
  job_key listener_key = {};

  std::shared_ptr<wireup::encryption> encryption =
      std::make_shared<wireup::encryption>(tcp_encryption::automatic);

  const job_key& key_of_listeners() const noexcept {
    return listener_key.empty() ? key : listener_key;
  }
};

}  // namespace weft::wireup
