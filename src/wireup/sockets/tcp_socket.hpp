// SPDX-License-Identifier: Apache-2.0
// TCP sockets of the control plane: their options, their names, and frames over them.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/tls/stream.hpp"
#include "runtime/descriptors/fd.hpp"
#include "wireup/base/frame.hpp"
#include "wireup/sockets/locator.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

/// Small frames leave at once. The connection breaks when the host gives no sign of life for
/// `timeout`. The kernel sends the probes, so an idle connection wakes no thread.
/// \param timeout 2 seconds or more
void prepare_tcp(int socket, std::chrono::seconds timeout) noexcept;

/// The address in such a name, without the port.
std::string host_of_peer(const std::string& name);

/// The other end of a TCP socket, as "10.0.0.2:4711"; for messages.
std::string name_of_peer(int socket);

/// The addresses by which other hosts may reach this one: those of the named interfaces, or of all
/// that are up; the loopback only if there is no other. At most `max_places`. \throws weft::error
/// (invalid_argument) when a named interface is not there
std::vector<std::string> addresses_of_host(const std::vector<std::string>& interfaces);

/// Listens for contexts of the same job, at a port that the system chooses: at the address, if
/// there is one only, else at all addresses of this host. \throws weft::error (system)
unique_fd listen_tcp(const std::vector<std::string>& addresses, std::uint16_t& port);

/// Cuts a TCP stream into frames. An incomplete frame is kept, at most one. After a header that
/// makes no sense no more bytes are read. On the loop's thread.
class stream_frames {
 public:
  /// \param sealed of the socket; null: in clear
  explicit stream_frames(std::unique_ptr<net::tls::stream> sealed = {}) noexcept
      : sealed_(std::move(sealed)) {}

  /// As receive_packet; the bytes are valid until the next call.
  arrival receive(int socket, packet& into);

  /// As send_packet. EAGAIN: a part of the frame may have left; call again with the same frame.
  int send(int socket, const frame& f);

  /// There is more to receive, although the kernel does not say so.
  bool may_have_more() const noexcept { return sealed_ && sealed_->may_have_more(); }

 private:
  ssize_t read(int socket, std::span<std::byte> into) noexcept;
  int send_sealed(std::span<const std::byte> head, std::span<const std::byte> body) noexcept;

  arrival fill(int socket, std::size_t wanted);

  std::unique_ptr<net::tls::stream> sealed_;
  std::vector<std::byte> in_;  // the frame that is arriving; its capacity is given back
  std::size_t have_ = 0;
  std::size_t sent_ = 0;  // bytes of the frame that is leaving
};

}  // namespace weft::wireup
