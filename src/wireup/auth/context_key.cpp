// SPDX-License-Identifier: Apache-2.0
#include "wireup/auth/context_key.hpp"

#include <nettle/curve25519.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "wireup/base/byte_io.hpp"
#include "wireup/base/random.hpp"

namespace weft::wireup {

namespace {

static_assert(CURVE25519_SIZE == sizeof(public_key));

const std::uint8_t* raw(const std::array<std::byte, 32>& bytes) noexcept {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}
std::uint8_t* raw(std::array<std::byte, 32>& bytes) noexcept {
  return reinterpret_cast<std::uint8_t*>(bytes.data());
}

std::array<std::byte, 32> random_secret() {
  std::array<std::byte, 32> secret;
  fill_random(secret);
  return secret;
}

}  // namespace

context_id id_of(const public_key& shown) noexcept {
  sha256_ctx state;
  sha256_init(&state);
  sha256_update(&state, shown.size(), raw(shown));
  std::array<std::byte, 32> hash;
  sha256_digest(&state, hash.size(), raw(hash));
  return byte_reader(std::span(hash).first(16)).get_id();
}

context_key::context_key() : context_key(random_secret()) {}

context_key::context_key(const std::array<std::byte, 32>& secret) noexcept : secret_(secret) {
  curve25519_mul_g(raw(shown_), raw(secret_));
  id_ = id_of(shown_);
}

context_key::~context_key() { ::explicit_bzero(secret_.data(), secret_.size()); }

std::optional<shared_point> context_key::agree(const public_key& other) const noexcept {
  shared_point point;
  curve25519_mul(raw(point), raw(secret_), raw(other));
  // The result for a point of small order: every two contexts would have this point in common.
  constexpr shared_point none{};
  if (memeql_sec(point.data(), none.data(), none.size()) != 0) return std::nullopt;
  return point;
}

}  // namespace weft::wireup
