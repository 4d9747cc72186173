// SPDX-License-Identifier: Apache-2.0
// In place of the folder tls, where weft is built without OpenSSL: no stream can be made.
#include "net/tls/stream.hpp"

#include <weft/error.hpp>

namespace weft::net::tls {

bool is_built_in() noexcept { return false; }

std::string describe() { return "no TLS"; }

void settings::release::operator()(ssl_ctx_st*) const noexcept {}
void settings::release::operator()(bio_method_st*) const noexcept {}
void stream::release::operator()(ssl_st*) const noexcept {}

settings::settings(std::uint64_t records_of_key) : records_of_key_(records_of_key) {
  throw error(errc::unsupported, "weft is built without OpenSSL");
}
settings::~settings() = default;

stream::stream(const settings& with, int socket, std::span<const std::byte>, const key&)
    : with_(with), socket_(socket) {}
stream::stream(const settings& with, int socket, key_finder) : with_(with), socket_(socket) {}
stream::~stream() = default;
stream::step stream::handshake() noexcept { return step::failed; }
ssize_t stream::read(std::span<std::byte>) noexcept { return -1; }
ssize_t stream::write(std::span<const std::byte>, bool) noexcept { return -1; }
bool stream::flush() noexcept { return false; }
bool stream::seal_all(std::span<const std::byte>) noexcept { return false; }
key stream::secret_for(std::string_view) const noexcept { return {}; }
void stream::rest() noexcept {}

}  // namespace weft::net::tls
