// SPDX-License-Identifier: Apache-2.0
// In place of the folder tls, where weft is built without OpenSSL: no settings can be made, and so
// nothing else.
#include "net/tls/stream.hpp"

#include <utility>

#include <weft/error.hpp>

namespace weft::net::tls {

bool is_built_in() noexcept { return false; }

std::string describe() { return "no TLS"; }

void settings::release::operator()(ssl_ctx_st*) const noexcept {}
void settings::release::operator()(bio_method_st*) const noexcept {}
void handshake::release::operator()(ssl_st*) const noexcept {}
void traffic_key::release::operator()(evp_cipher_ctx_st*) const noexcept {}

settings::settings(std::uint64_t records_of_key) : records_of_key_(records_of_key) {
  throw error(errc::unsupported, "weft is built without OpenSSL");
}
settings::settings(tls_files files) : records_of_key_(0), files_(std::move(files)) {
  throw error(errc::unsupported,
              "certificates (WEFT_TLS_CERTIFICATE) need OpenSSL, which weft is built without");
}
settings::~settings() = default;
handshake::~handshake() = default;
traffic_key::~traffic_key() = default;

stream::stream(const settings& with, int socket, std::span<const std::byte>, const key&)
    : records_of_key_(with.records_of_key_), socket_(socket) {}
stream::stream(const settings& with, int socket, key_finder)
    : records_of_key_(with.records_of_key_), socket_(socket) {}
stream::stream(const settings& with, int socket, std::string)
    : records_of_key_(with.records_of_key_), socket_(socket) {}
stream::stream(const settings& with, int socket)
    : records_of_key_(with.records_of_key_), socket_(socket) {}
stream::~stream() = default;
step stream::shake_hands() noexcept { return step::failed; }
ssize_t stream::read(std::span<std::byte>) noexcept { return -1; }
ssize_t stream::write(std::span<const std::byte>, bool) noexcept { return -1; }
bool stream::flush() noexcept { return false; }
bool stream::seal_all(std::span<const std::byte>) noexcept { return false; }
void stream::rest() noexcept {}

}  // namespace weft::net::tls
