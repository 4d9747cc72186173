// SPDX-License-Identifier: Apache-2.0
// The socket of a connection, bare or in TLS.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "net/tls/stream.hpp"
#include "runtime/descriptors/fd.hpp"

namespace weft::transports::tcp {

/// Both kinds behave as a socket does; what was sealed and has not left counts as written, and is
/// sent by `flush`. Owned by a pair; progress lock held only.
class stream_socket {
 public:
  stream_socket() = default;
  /// \param sealed of that descriptor, after its handshake; null: the connection is bare
  explicit stream_socket(unique_fd fd, std::unique_ptr<net::tls::stream> sealed = {}) noexcept
      : fd_(std::move(fd)), sealed_(std::move(sealed)) {}

  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  int fd() const noexcept { return fd_.get(); }
  bool is_encrypted() const noexcept { return sealed_ != nullptr; }
  /// Content of records so far.
  std::uint64_t bytes_sealed() const noexcept { return bytes_sealed_; }
  std::uint64_t bytes_opened() const noexcept { return bytes_opened_; }

  /// As recvmsg(2), without waiting, into one part or two.
  ssize_t read(std::span<iovec> parts) noexcept;
  /// There is more, although the kernel does not say so.
  bool may_have_more() const noexcept { return sealed_ && sealed_->may_have_more(); }

  /// As sendmsg(2), without waiting. Contiguous bytes go by send: sendmsg makes the kernel fetch a
  /// list, 2 % of a small message's time. \param flags MSG_MORE or 0
  ssize_t write(std::span<iovec> parts, int flags) noexcept;
  bool has_unsent() const noexcept { return sealed_ && !sealed_->unsent().empty(); }
  /// \return 0, or -1 with `errno`
  ssize_t flush() noexcept { return !sealed_ || sealed_->flush() ? 0 : -1; }

  /// What has to be sent for these bytes, the connection's last ones. Valid until it ends.
  std::span<const std::byte> last(std::span<const std::byte> bytes) noexcept {
    if (!sealed_) return bytes;
    if (sealed_->seal_all(bytes)) bytes_sealed_ += bytes.size();
    return sealed_->unsent();
  }
  /// Frees memory that only traffic needs.
  void rest() noexcept {
    if (sealed_) sealed_->rest();
  }

 private:
  ssize_t read_sealed(std::span<iovec> parts) noexcept;
  ssize_t write_sealed(std::span<iovec> parts) noexcept;

  unique_fd fd_;
  std::unique_ptr<net::tls::stream> sealed_;
  std::uint64_t bytes_sealed_ = 0;
  std::uint64_t bytes_opened_ = 0;
};

inline ssize_t stream_socket::read(std::span<iovec> parts) noexcept {
  if (sealed_) return read_sealed(parts);
  if (parts.size() == 1) [[likely]]
    return ::recv(fd_.get(), parts[0].iov_base, parts[0].iov_len, MSG_DONTWAIT);
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return ::recvmsg(fd_.get(), &message, MSG_DONTWAIT);
}

inline ssize_t stream_socket::write(std::span<iovec> parts, int flags) noexcept {
  if (sealed_) return write_sealed(parts);
  flags |= MSG_NOSIGNAL | MSG_DONTWAIT;
  if (parts.size() == 1) [[likely]]
    return ::send(fd_.get(), parts[0].iov_base, parts[0].iov_len, flags);
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return ::sendmsg(fd_.get(), &message, flags);
}

}  // namespace weft::transports::tcp
