// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/stream_socket.hpp"

namespace weft::transports::tcp {

namespace {

// A shorter part leaves with the next one; a longer one is sealed and sent piece by piece.
constexpr std::size_t longest_gathered = 8 * 1024;

std::span<std::byte> bytes_of(const iovec& part) noexcept {
  return {static_cast<std::byte*>(part.iov_base), part.iov_len};
}

}  // namespace

ssize_t stream_socket::read_sealed(std::span<iovec> parts) noexcept {
  ssize_t got = 0;
  for (const iovec& part : parts) {
    if (got != 0 && !sealed_->may_have_more()) break;
    const ssize_t n = sealed_->read(bytes_of(part));
    if (n <= 0) return got != 0 ? got : n;  // an end is found again
    got += n;
    bytes_opened_ += static_cast<std::uint64_t>(n);
    if (static_cast<std::size_t>(n) != part.iov_len) break;
  }
  return got;
}

ssize_t stream_socket::write_sealed(std::span<iovec> parts) noexcept {
  ssize_t taken = 0;
  for (const iovec& part : parts) {
    const bool gather = &part != &parts.back() && part.iov_len <= longest_gathered;
    const ssize_t n = sealed_->write(bytes_of(part), gather);
    if (n < 0) return taken != 0 ? taken : n;  // a fault is found again
    taken += n;
    bytes_sealed_ += static_cast<std::uint64_t>(n);
    if (static_cast<std::size_t>(n) != part.iov_len) break;
  }
  return taken;
}

}  // namespace weft::transports::tcp
