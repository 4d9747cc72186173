// SPDX-License-Identifier: Apache-2.0
// The handshake by which both ends of a TCP connection prove that they know the job's key, before
// anything else is sent. docs/wire-format.md has the bytes, docs/wire-up.md the threats.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wireup/auth/job_key.hpp"

namespace weft::wireup {

/// The first eight bytes on every TCP connection to a context.
inline constexpr std::size_t opening_size = 8;
using opening = std::array<std::byte, opening_size>;

/// The purpose of the connecting side.
enum class approach : std::uint16_t {
  ask = 0,      ///< learn where an "any://" listener's Unix socket is
  prove = 1,    ///< prove knowledge of the job's key, and go on in clear
  encrypt = 2,  ///< the same by a TLS handshake, and go on encrypted
  certify = 3   ///< the same by a TLS handshake in which both sides show certificates
};

opening encode_opening(approach a);
/// Nothing, if the bytes are not of this version.
std::optional<approach> decode_opening(std::span<const std::byte> bytes);

/// The name and the key of the TLS handshake between processes of a job.
inline constexpr std::string_view name_of_tls_key = "weft job";
digest tls_key_of(const job_key& key);
// To `encrypt` the other side answers with an opening of that kind, and TLS begins. An opening of
// another kind is a refusal, and tells what it would take. The same holds for `certify`; there the
// first bytes in TLS are the listener's: the opening once more, when it has let the other side in.

// opening ->, <- challenge, proof ->, <- confirmation. All have a fixed size, so an unauthenticated
// client's bytes never decide how much is read. Both sides put fresh random bytes in, so an old
// message never fits.
inline constexpr std::size_t nonce_size = 32;
inline constexpr std::size_t challenge_size = opening_size + nonce_size;
inline constexpr std::size_t proof_size = nonce_size + sizeof(digest);
using challenge = std::array<std::byte, challenge_size>;
using proof = std::array<std::byte, proof_size>;

/// The accepting side. A value.
class challenger {
 public:
  /// \throws weft::error (system) without random bytes
  explicit challenger(job_key key);
  const challenge& question() const noexcept { return question_; }
  /// The confirmation, if the proof is right. Call once: a connection has one try.
  std::optional<digest> judge(const proof& p) const;
  /// A secret that only these two sides can compute after the handshake: binds what they send next
  /// to the key.
  digest secret(const proof& p) const;

 private:
  const job_key key_;
  challenge question_;
};

/// The connecting side. A value.
class prover {
 public:
  explicit prover(job_key key);
  /// Nothing, if the challenge is not of this version.
  std::optional<proof> answer(const challenge& question);
  /// Whether the confirmation proves that the other side knows the key, too.
  bool confirmed_by(const digest& d) const;
  /// As challenger::secret.
  digest secret() const;

 private:
  const job_key key_;
  challenge question_{};
  proof proof_{};
};

}  // namespace weft::wireup
