// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/connecting/proof.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weft::transports::tcp {

namespace {

// Different words for the two directions, so that the bytes of one side are no proof for the other.
constexpr char from_listener[24] = "weft tcp: I made it    ";
constexpr char from_caller[24] = "weft tcp: I was told it";

nonce random_nonce() {
  nonce fresh;
  if (::getrandom(fresh.data(), fresh.size(), 0) != static_cast<ssize_t>(fresh.size()))
    throw error(errc::system, fmt::format("getrandom failed: {}", std::strerror(errno)));
  return fresh;
}

struct proven {
  char whose[24];
  client_hello said;
  nonce fresh;  // of the answer
};
static_assert(sizeof(proven) == 24 + sizeof(client_hello) + sizeof(nonce));

signature prove(const counterpart& who, const char (&whose)[24], const client_hello& said,
                const welcome& answer) noexcept {
  proven all{{}, said, answer.fresh};
  std::ranges::copy(whose, all.whose);
  return who.sign(std::as_bytes(std::span(&all, 1)));
}

/// Takes the same time wherever the two differ.
bool same(const signature& a, const signature& b) noexcept {
  std::byte differs{};
  for (std::size_t i = 0; i != a.size(); ++i) differs |= a[i] ^ b[i];
  return differs == std::byte{};
}

}  // namespace

net::tls::key key_of(const counterpart& who, const token& of_offer) noexcept {
  struct {
    char word[24] = "weft tcp: key of TLS   ";
    token shown;
  } all;
  all.shown = of_offer;
  return who.sign(std::as_bytes(std::span(&all, 1)));
}

client_hello make_client_hello(const token& of_offer) {
  return {magic, version, 0, of_offer, random_nonce()};
}

welcome make_welcome(const counterpart& who, const client_hello& said) {
  welcome answer{magic, version, 0, random_nonce(), {}};
  answer.proof = prove(who, from_listener, said, answer);
  return answer;
}

bool is_proven(const counterpart& who, const client_hello& said, const welcome& answer) noexcept {
  return answer.magic == magic && answer.version == version &&
         same(prove(who, from_listener, said, answer), answer.proof);
}

confirmation confirm(const counterpart& who, const client_hello& said,
                     const welcome& answer) noexcept {
  return prove(who, from_caller, said, answer);
}

bool is_confirmed(const counterpart& who, const client_hello& said, const welcome& answer,
                  const confirmation& shown) noexcept {
  return same(confirm(who, said, answer), shown);
}

}  // namespace weft::transports::tcp
