// SPDX-License-Identifier: Apache-2.0
// Connects to a peer that has several addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/descriptors/close_on_fork.hpp"
#include "runtime/sleep/wait_set.hpp"
#include "transports/tcp/connecting/proof.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/tcp/stream_socket.hpp"

namespace weft::transports::tcp {

/// Tries the addresses of a peer, because it cannot be known which of them are reachable from this
/// host: the first one, the next when that fails, and all at once when it takes long. The first
/// address that answers the greeting counts; the peer takes one connection only. A connection that
/// the other side closed may have had to make room for other clients, and is tried again a little
/// later. Owned by a pair; progress lock held only; its watchers are called from within
/// transport::poll.
class socket_connector {
 public:
  /// \param offered the token of the peer's offer \param who the counterpart that the offer came
  ///   from
  /// \param encryption outlives this; null: the two do not encrypt
  /// \param ended called once, as the last step: with the connection, or with none and the reasons.
  ///   It may destroy this object.
  socket_connector(runtime::wait_set& sockets, std::vector<address> to, const token& offered,
                   counterpart who, const net::tls::settings* encryption,
                   std::chrono::seconds timeout,
                   std::function<void(stream_socket, const std::string& why_not)> ended);
  ~socket_connector();
  socket_connector(const socket_connector&) = delete;
  socket_connector& operator=(const socket_connector&) = delete;

  /// False when no address can be tried. For the constructor's caller: `ended` is not called then.
  bool is_under_way() const noexcept { return !tried_.empty(); }
  /// An address was not tried because this process, or the system, has no descriptor left.
  bool lacks_descriptors() const noexcept { return lacks_descriptors_; }
  /// TLS handshakes that did not end well, but for those that the other side broke off.
  std::uint64_t handshakes_failed() const noexcept { return handshakes_failed_; }

  /// Tries all remaining addresses. Called every now and then while no connection was made.
  void hurry() noexcept;

 private:
  struct target {
    address at;
    unsigned tries = 0;  // connections that the other side closed
  };
  struct socket_attempt final : runtime::fd_watcher {
    socket_connector* in = nullptr;
    unique_fd fd;
    runtime::close_on_fork fork_guard;
    target to;
    bool greeted = false;
    std::unique_ptr<net::tls::stream> sealed;
    welcome heard{};
    std::size_t heard_bytes = 0;
    std::list<socket_attempt>::iterator self;
    void on_ready(std::uint32_t events) noexcept override;
  };

  bool try_next() noexcept;
  void go_on(socket_attempt& a) noexcept;
  void greet(socket_attempt& a);
  void shake_hands(socket_attempt& a);
  void succeed(socket_attempt& a);
  void give_up(socket_attempt& a, const char* why) noexcept;
  void hung_up(socket_attempt& a) noexcept;
  void end_if_over() noexcept;
  void note(const address& to, int code) noexcept;
  void note(const address& to, const char* why) noexcept;

  runtime::wait_set& sockets_;
  const client_hello says_;
  const counterpart who_;
  const net::tls::settings* const encryption_;
  const std::chrono::seconds timeout_;
  std::vector<target> to_;  // has capacity for all tries
  std::size_t next_ = 0;
  std::vector<target> later_;  // has the same capacity
  std::function<void(stream_socket, const std::string&)> ended_;
  std::list<socket_attempt> tried_;
  std::string reasons_;
  bool lacks_descriptors_ = false;
  std::uint64_t handshakes_failed_ = 0;
};

}  // namespace weft::transports::tcp
