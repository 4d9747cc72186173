// SPDX-License-Identifier: Apache-2.0
// The key pair behind a context's id. docs/adr/0026-context-keys.md.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "wireup/base/identity.hpp"

namespace weft::wireup {

/// The public half of a context's key pair: a point of X25519 (RFC 7748).
using public_key = std::array<std::byte, 32>;
/// A secret that two contexts share and no third party can compute.
using shared_point = std::array<std::byte, 32>;

/// The id of the context with that key: the first 16 bytes of the key's SHA-256. So a context that
/// was told an id can check which context may answer to it.
context_id id_of(const public_key& shown) noexcept;

/// A context's key pair. It is made and ends with its context. The secret half is never stored or
/// sent. Constant, so any thread may use it.
class context_key {
 public:
  /// \throws weft::error (system) without random bytes
  context_key();
  /// Of these secret bytes. For tests.
  explicit context_key(const std::array<std::byte, 32>& secret) noexcept;
  ~context_key();
  context_key(const context_key&) = delete;
  context_key& operator=(const context_key&) = delete;

  const public_key& shown() const noexcept { return shown_; }
  const context_id& id() const noexcept { return id_; }

  /// The secret that this context shares with the one that has that key; takes some 150 us.
  /// Nothing, if no context can have that key.
  std::optional<shared_point> agree(const public_key& other) const noexcept;

 private:
  std::array<std::byte, 32> secret_;
  public_key shown_;
  context_id id_;
};

}  // namespace weft::wireup
