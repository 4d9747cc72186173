// SPDX-License-Identifier: Apache-2.0
#include "net/tls/traffic_key.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <string_view>

#include <weft/error.hpp>

namespace weft::net::tls {

namespace {

unsigned char* chars(std::byte* b) noexcept { return reinterpret_cast<unsigned char*>(b); }
const unsigned char* chars(const std::byte* b) noexcept {
  return reinterpret_cast<const unsigned char*>(b);
}

/// HKDF-Expand-Label (RFC 8446, 7.1) without a context, of one block of SHA-256.
bool expand(const key& secret, std::string_view label, std::span<unsigned char> into) noexcept {
  std::array<unsigned char, 64> info{};
  unsigned char* at = info.data();
  *at++ = 0;
  *at++ = static_cast<unsigned char>(into.size());
  constexpr std::string_view prefix = "tls13 ";
  *at++ = static_cast<unsigned char>(prefix.size() + label.size());
  at = std::ranges::copy(prefix, at).out;
  at = std::ranges::copy(label, at).out;
  *at++ = 0;  // no context
  *at++ = 1;  // the first block
  key block{};
  if (!HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), info.data(),
            static_cast<std::size_t>(at - info.data()), chars(block.data()), nullptr))
    return false;
  std::copy_n(chars(block.data()), into.size(), into.data());
  OPENSSL_cleanse(block.data(), block.size());
  return true;
}

}  // namespace

void traffic_key::release::operator()(evp_cipher_ctx_st* what) const noexcept {
  EVP_CIPHER_CTX_free(what);
}

traffic_key::traffic_key(way w, const key& secret)
    : way_(w), secret_(secret), cipher_(EVP_CIPHER_CTX_new()) {
  if (cipher_ && set()) return;
  ERR_clear_error();
  throw error(errc::out_of_memory, "no memory for the keys of a TLS connection");
}

traffic_key::~traffic_key() { OPENSSL_cleanse(secret_.data(), secret_.size()); }

bool traffic_key::set() noexcept {
  std::array<unsigned char, 16> of_cipher{};
  records_ = 0;
  const bool well = expand(secret_, "key", of_cipher) && expand(secret_, "iv", mask_) &&
                    EVP_CipherInit_ex(cipher_.get(), EVP_aes_128_gcm(), nullptr, of_cipher.data(),
                                      nullptr, way_ == way::seals ? 1 : 0) == 1;
  OPENSSL_cleanse(of_cipher.data(), of_cipher.size());
  return well;
}

bool traffic_key::renew() noexcept {
  key next{};
  if (!expand(secret_, "traffic upd", {chars(next.data()), next.size()})) return false;
  secret_ = next;
  OPENSSL_cleanse(next.data(), next.size());
  return set();
}

/// The number of the record, in network order, on the mask.
std::array<unsigned char, 12> traffic_key::next_nonce() noexcept {
  std::array<unsigned char, 12> nonce = mask_;
  for (std::size_t i = 0; i != sizeof records_; ++i)
    nonce[nonce.size() - 1 - i] ^= static_cast<unsigned char>(records_ >> (8 * i));
  ++records_;
  return nonce;
}

bool traffic_key::seal(content kind, std::span<const std::byte> what, std::byte* into) noexcept {
  const std::size_t behind = what.size() + 1 + record_tag;
  const unsigned char header[record_header] = {static_cast<unsigned char>(content::data), 3, 3,
                                               static_cast<unsigned char>(behind >> 8),
                                               static_cast<unsigned char>(behind)};
  std::copy_n(header, record_header, chars(into));
  unsigned char* const body = chars(into) + record_header;
  const auto inner = static_cast<unsigned char>(kind);
  const auto size = static_cast<int>(what.size());
  const auto nonce = next_nonce();
  EVP_CIPHER_CTX* const c = cipher_.get();
  int n = 0;
  return EVP_EncryptInit_ex(c, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
         EVP_EncryptUpdate(c, nullptr, &n, header, record_header) == 1 &&
         EVP_EncryptUpdate(c, body, &n, chars(what.data()), size) == 1 &&
         EVP_EncryptUpdate(c, body + size, &n, &inner, 1) == 1 &&
         EVP_EncryptFinal_ex(c, body + size + 1, &n) == 1 &&
         EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, record_tag, body + size + 1) == 1;
}

bool traffic_key::open(std::span<const std::byte> record, std::byte* into) noexcept {
  const auto header = record.first(record_header);
  const auto body = record.subspan(record_header, record.size() - record_header - record_tag);
  std::array<unsigned char, record_tag> tag;
  std::copy_n(chars(record.last(record_tag).data()), tag.size(), tag.data());
  const auto nonce = next_nonce();
  EVP_CIPHER_CTX* const c = cipher_.get();
  int n = 0;
  unsigned char none = 0;
  const bool is_authentic =
      EVP_DecryptInit_ex(c, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
      EVP_DecryptUpdate(c, nullptr, &n, chars(header.data()), record_header) == 1 &&
      EVP_DecryptUpdate(c, chars(into), &n, chars(body.data()), static_cast<int>(body.size())) ==
          1 &&
      EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, record_tag, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(c, &none, &n) == 1;
  if (!is_authentic) ERR_clear_error();
  return is_authentic;
}

}  // namespace weft::net::tls
