// SPDX-License-Identifier: Apache-2.0
#include "wireup/auth/introduction.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <weft/error.hpp>

#include "wireup/base/byte_io.hpp"
#include "wireup/base/random.hpp"

namespace weft::wireup {

namespace {

// Different texts for the two directions, so that no side can be answered with its own bytes.
constexpr std::string_view of_channel = "weft 1: the secret of a channel";
constexpr std::string_view from_initiator = "weft 1: I connected and am who I say";
constexpr std::string_view from_responder = "weft 1: I listened and am who I say";

/// HKDF's first step (RFC 5869): the medium's secret is the salt.
digest secret_of(const admission& medium, const shared_point& common, const invitation& i,
                 const hello& h) {
  return authenticate(medium, {text_bytes(of_channel), common, i.key, i.fresh, h.key, h.fresh});
}

std::span<const std::byte> without_proof(std::span<const std::byte> body) {
  return body.first(body.size() - sizeof(digest));
}

void put_proof(std::vector<std::byte>& body, const digest& proof) {
  std::copy(proof.begin(), proof.end(), body.end() - sizeof proof);
}

digest proof_of_hello(const digest& secret, std::span<const std::byte> hello) {
  return authenticate(secret, {text_bytes(from_initiator), without_proof(hello)});
}

digest proof_of_welcome(const digest& secret, std::span<const std::byte> hello,
                        std::span<const std::byte> welcome) {
  return authenticate(secret, {text_bytes(from_responder), hello, without_proof(welcome)});
}

constexpr std::string_view of_others = "weft 1: beyond the channel";

constexpr const char* unproven = "it cannot prove that it is who it says";

}  // namespace

digest sign_beyond(const digest& secret, std::span<const std::byte> bytes) noexcept {
  return authenticate(secret, {text_bytes(of_others), bytes});
}

responder::responder(const context_key& own, const admission& medium) : own_(own), medium_(medium) {
  invitation_.key = own.shown();
  fill_random(invitation_.fresh);
}

decoded<hello> responder::judge(const frame& f) {
  decoded<hello> said = decode_hello(f);
  if (!said.value) return said;
  const auto common = own_.agree(said.value->key);
  if (!common) return {std::nullopt, unproven};
  secret_ = secret_of(medium_, *common, invitation_, *said.value);
  if (!same(proof_of_hello(secret_, f.body), said.value->proof)) return {std::nullopt, unproven};
  hello_ = f.body;
  return said;
}

frame responder::welcome(const identity& self) const {
  frame f = encode_welcome({self, {}});
  put_proof(f.body, proof_of_welcome(secret_, hello_, f.body));
  return f;
}

decoded<context_id> initiator::hear(const frame& f) {
  const decoded<invitation> said = decode_invitation(f);
  if (!said.value) return {std::nullopt, said.wrong};
  invitation_ = *said.value;
  return {id_of(invitation_.key), {}};
}

frame initiator::greet(hello h) {
  h.key = own_.shown();
  fill_random(h.fresh);
  const auto common = own_.agree(invitation_.key);
  if (!common) throw error(errc::protocol_error, unproven);
  secret_ = secret_of(medium_, *common, invitation_, h);
  frame f = encode(h);
  put_proof(f.body, proof_of_hello(secret_, f.body));
  hello_ = f.body;
  return f;
}

decoded<identity> initiator::judge(const frame& f) const {
  decoded<welcome> said = decode_welcome(f);
  if (!said.value) return {std::nullopt, std::move(said.wrong)};
  if (!same(proof_of_welcome(secret_, hello_, f.body), said.value->proof))
    return {std::nullopt, unproven};
  said.value->who.id = id_of(invitation_.key);
  return {std::move(said.value->who), {}};
}

}  // namespace weft::wireup
