// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "wireup/auth/introduction.hpp"
#include "wireup/auth/job_key.hpp"
#include "wireup/base/byte_io.hpp"
#include "wireup/sockets/socket_names.hpp"
#include "wireup/tcp/encryption.hpp"
#include "wireup/tcp/renewable_certificates.hpp"

namespace weft::wireup {

/// How other contexts reach this one, and it them.
struct tcp_settings {
  job_key key = {};                          ///< empty: no TCP at all, neither in nor out
  std::vector<std::string> interfaces = {};  ///< whose addresses peers are told; none: all
  std::chrono::seconds peer_timeout{10};     ///< silence after which a TCP channel is broken
  bool listens = true;                       ///< false: out only
  /// Of the program's listeners and connections to their addresses; empty: `key`. Context addresses
  /// carry `key`, so that of a standalone context is its own, and not the one of WEFT_JOB_KEY.
  job_key listener_key = {};
  /// Of the program's listeners and connections at tcp:// addresses, in place of a key; null: none.
  std::shared_ptr<renewable_certificates> certificates = {};
  socket_names names = {};  ///< of Unix sockets, by which those on this host are reached

  /// Whether a process at a Unix socket that is not of this user is asked for the key. Both sides
  /// come to the same answer: each sees the other as its user, or neither does.
  bool may_know_key(const credentials& who) const noexcept {
    return !who.same_user && names.admit_by_key() && !key.empty();
  }
  /// Then the proofs of the two contexts are right only if both know the key.
  admission admission_by_key() const { return key.sign({text_bytes("weft, a Unix socket")}); }

  std::shared_ptr<wireup::encryption> encryption =
      std::make_shared<wireup::encryption>(tcp_encryption::automatic);

  const job_key& key_of_listeners() const noexcept {
    return listener_key.empty() ? key : listener_key;
  }
};

}  // namespace weft::wireup
