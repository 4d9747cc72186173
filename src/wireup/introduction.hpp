// SPDX-License-Identifier: Apache-2.0
// How two contexts show each other that they are who they say, over any medium:
//
//   listener                            whoever connected
//     invitation: key, random bytes  ->
//                                    <-  hello: key, random bytes, what it claims, proof
//     welcome: what it claims, proof ->
//
// A proof is made with a secret that takes the secret half of one of the two keys, and covers
// everything that was said: nobody else can make one, and none fits another conversation.
// docs/wire-format.md has the bytes, docs/adr/0026-context-keys.md says why.
#pragma once

#include <string>

#include "wireup/context_key.hpp"
#include "wireup/hello.hpp"
#include "wireup/job_key.hpp"

namespace weft::wireup {

/// What the medium knows already of the two ends: over TCP a secret from the exchange of proofs of
/// the job's key, over a Unix socket, where the kernel vouches for the user, nothing.
using admission = digest;

/// What proves to the other end of a channel, and to nobody else, that somebody is at this end,
/// wherever else the two meet. \param secret the channel's \param bytes fresh ones of both sides
digest sign_beyond(const digest& secret, std::span<const std::byte> bytes) noexcept;

/// The side that was connected to. A value; everything in the order of the functions, each once.
class responder {
 public:
  /// \param own outlives this \throws weft::error (system) without random bytes
  responder(const context_key& own, const admission& medium);

  frame invite() const { return encode(invitation_); }
  /// What the hello says, if it is true that the sender is who it says.
  decoded<hello> judge(const frame& f);
  frame welcome(const identity& self) const;
  /// Once the hello was judged. Only the two contexts know it; fresh for each channel.
  const digest& secret() const noexcept { return secret_; }

 private:
  const context_key& own_;
  const admission medium_;
  invitation invitation_;
  std::vector<std::byte> hello_;
  digest secret_{};
};

/// The side that connected. A value; everything in the order of the functions, each once.
class initiator {
 public:
  initiator(const context_key& own, const admission& medium) : own_(own), medium_(medium) {}

  /// Who invites, as it says; the welcome proves it.
  decoded<context_id> hear(const frame& f);
  /// \throws weft::error (system) without random bytes, (protocol_error) when no context can have
  /// the listener's key
  frame greet(hello h);
  decoded<identity> judge(const frame& f) const;
  /// As the responder's, once it was greeted.
  const digest& secret() const noexcept { return secret_; }

 private:
  const context_key& own_;
  const admission medium_;
  invitation invitation_;
  std::vector<std::byte> hello_;
  digest secret_{};
};

}  // namespace weft::wireup
