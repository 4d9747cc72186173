// SPDX-License-Identifier: Apache-2.0
// How two contexts prove their identities to each other, over any medium:
//
//   accepting side                      connecting side
//     invitation: key, random bytes  ->
//                                    <-  hello: key, random bytes, what it claims, proof
//     welcome: what it claims, proof ->
//
// A proof is made with a secret that depends on the secret half of one of the two keys, and covers
// everything that was said before. So no third party can make one, and no proof fits another
// conversation. docs/wire-format.md has the bytes, docs/adr/0026-context-keys.md the reasons.
#pragma once

#include <string>

#include "wireup/auth/context_key.hpp"
#include "wireup/auth/hello.hpp"
#include "wireup/auth/job_key.hpp"

namespace weft::wireup {

/// What the medium knows of the two ends already. Over TCP this is a secret from the exchange of
/// proofs of the job's key. Over a Unix socket, where the kernel vouches for the user, it is
/// nothing.
using admission = digest;

/// Authenticates this end to the other end of a channel, and to no third party, where the two
/// communicate outside the channel. \param secret the channel's \param bytes fresh ones of both
/// sides
digest sign_beyond(const digest& secret, std::span<const std::byte> bytes) noexcept;

/// The accepting side. A value. Call each function once, in the order of their declarations.
class responder {
 public:
  /// \param own outlives this \throws weft::error (system) without random bytes
  responder(const context_key& own, const admission& medium);

  frame invite() const { return encode(invitation_); }
  /// The content of the hello, if the sender has proven its identity.
  decoded<hello> judge(const frame& f);
  frame welcome(const identity& self) const;
  /// Valid once `judge` has accepted the hello. Only the two contexts know it; fresh for each
  /// channel.
  const digest& secret() const noexcept { return secret_; }

 private:
  const context_key& own_;
  const admission medium_;
  invitation invitation_;
  std::vector<std::byte> hello_;
  digest secret_{};
};

/// The connecting side. A value. Call each function once, in the order of their declarations.
class initiator {
 public:
  initiator(const context_key& own, const admission& medium) : own_(own), medium_(medium) {}

  /// The id that the inviting side claims; the welcome proves it.
  decoded<context_id> hear(const frame& f);
  /// \throws weft::error (system) without random bytes, (protocol_error) when no context can have
  /// the listener's key
  frame greet(hello h);
  decoded<identity> judge(const frame& f) const;
  /// As responder::secret; valid once `greet` was called.
  const digest& secret() const noexcept { return secret_; }

 private:
  const context_key& own_;
  const admission medium_;
  invitation invitation_;
  std::vector<std::byte> hello_;
  digest secret_{};
};

}  // namespace weft::wireup
