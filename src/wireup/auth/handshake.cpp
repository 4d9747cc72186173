// SPDX-License-Identifier: Apache-2.0
#include "wireup/auth/handshake.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "wireup/auth/hello.hpp"
#include "wireup/base/byte_io.hpp"
#include "wireup/base/random.hpp"

namespace weft::wireup {

namespace {

// Different texts for the two directions, so that no side can be answered with its own bytes.
constexpr std::string_view from_prover = "weft 1: I connected and know the key";
constexpr std::string_view from_challenger = "weft 1: I listened and know the key";
// Never sent.
constexpr std::string_view of_both = "weft 1: both know the key";

}  // namespace

opening encode_opening(approach a) {
  byte_writer out;
  out.put(wire_magic).put(wire_version).put(static_cast<std::uint16_t>(a));
  opening o;
  std::ranges::copy(out.take(), o.begin());
  return o;
}

std::optional<approach> decode_opening(std::span<const std::byte> bytes) {
  byte_reader in(bytes);
  const bool ours = in.get<std::uint32_t>() == wire_magic;
  const bool known = in.get<std::uint16_t>() == wire_version;
  const auto what = in.get<std::uint16_t>();
  if (!in.complete() || !ours || !known || what > static_cast<std::uint16_t>(approach::certify))
    return std::nullopt;
  return static_cast<approach>(what);
}

digest tls_key_of(const job_key& key) {
  return key.sign({text_bytes("weft 1: the key of TLS between processes of a job")});
}

challenger::challenger(job_key key) : key_(std::move(key)) {
  std::ranges::copy(encode_opening(approach::prove), question_.begin());
  fill_random(std::span(question_).subspan(opening_size));
}

std::optional<digest> challenger::judge(const proof& p) const {
  const auto nonce = std::span(p).first(nonce_size);
  if (!same(key_.sign({text_bytes(from_prover), question_, nonce}),
            std::span(p).subspan(nonce_size)))
    return std::nullopt;
  return key_.sign({text_bytes(from_challenger), question_, p});
}

digest challenger::secret(const proof& p) const {
  return key_.sign({text_bytes(of_both), question_, p});
}

prover::prover(job_key key) : key_(std::move(key)) {}

std::optional<proof> prover::answer(const challenge& question) {
  if (decode_opening(std::span(question).first(opening_size)) != approach::prove)
    return std::nullopt;
  question_ = question;
  const auto nonce = std::span(proof_).first(nonce_size);
  fill_random(nonce);
  std::ranges::copy(key_.sign({text_bytes(from_prover), question_, nonce}),
                    proof_.begin() + nonce_size);
  return proof_;
}

bool prover::confirmed_by(const digest& d) const {
  return same(key_.sign({text_bytes(from_challenger), question_, proof_}), d);
}

digest prover::secret() const { return key_.sign({text_bytes(of_both), question_, proof_}); }

}  // namespace weft::wireup
