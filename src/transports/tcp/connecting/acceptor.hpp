// SPDX-License-Identifier: Apache-2.0
// Accepts the connections of peers, and refuses unauthenticated clients.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/descriptors/close_on_fork.hpp"
#include "runtime/descriptors/spare_fd.hpp"
#include "runtime/sleep/wait_set.hpp"
#include "transports/tcp/connecting/proof.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/tcp/stream_socket.hpp"

namespace weft::transports::tcp {

/// To whom an offer was made, and what it says of encryption.
struct offered_peer {
  const counterpart* who = nullptr;
  net::tls::stance stance{};
};

/// The offers that the acceptor looks tokens up in. Progress lock held.
class offers {
 public:
  /// Nothing: that token is in no offer.
  virtual std::optional<offered_peer> offered(const token& shown) const noexcept = 0;
  /// For clients that encrypt; null: no offer is for them.
  virtual const net::tls::settings* encryption_of_offers() noexcept = 0;
  /// Takes the connection of the peer that the token was offered to, if it is still wanted.
  virtual void take(const token& shown, stream_socket made) noexcept = 0;
  /// The first client has been turned away that no offer was made to.
  virtual void turned_away() noexcept = 0;

 protected:
  ~offers() = default;
};

/// Listens on this host's addresses, one port each, from the first offer on. A client shows the
/// token that an offer carried, and proves that the offer was made to it. Owned by the transport;
/// progress lock held only; its watchers are called from within transport::poll.
class acceptor {
 public:
  /// \param sockets watched in; outlives this, as `made` does
  acceptor(runtime::wait_set& sockets, offers& made) : sockets_(sockets), offers_(made) {}
  ~acceptor();
  acceptor(const acceptor&) = delete;
  acceptor& operator=(const acceptor&) = delete;

  /// The addresses to connect to; the first call opens the ports.
  /// \param interfaces see own_addresses \throws weft::error
  const std::vector<address>& open(const std::vector<std::string>& interfaces);

  /// Whether descriptors ran out, so that no client can be accepted until `resume`. Clients that
  /// have waited for seconds are disconnected.
  bool rests() const noexcept { return rests_; }
  void resume() noexcept;

  /// Whether there are pending clients.
  bool has_clients() const noexcept { return !pending_clients_.empty(); }
  /// Whether a pending client was answered that showed this token: it may have proven itself, and
  /// sent frames, that were not read yet.
  bool has_answered(const token& shown) const noexcept;
  /// Disconnects all pending clients: there is no offer any more. Not from within a watcher.
  void dismiss_clients() noexcept;

  std::string describe() const;
  /// Of clients that began to encrypt, and did not leave by themselves.
  std::uint64_t handshakes_failed() const noexcept { return handshakes_failed_; }

 private:
  /// One port.
  struct listening_socket final : runtime::fd_watcher {
    acceptor* in = nullptr;
    unique_fd fd;
    runtime::close_on_fork fork_guard;
    void on_ready(std::uint32_t events) noexcept override;
    void refused(int code) noexcept;
  };
  /// A client that has connected and not shown everything yet.
  struct pending_client final : runtime::fd_watcher {
    acceptor* in = nullptr;
    unique_fd fd;
    runtime::close_on_fork fork_guard;
    std::unique_ptr<net::tls::stream> sealed;  // it encrypts; of its hello only the token is known
    client_hello said{};
    welcome answer{};  // once all of `said` was heard
    confirmation shown{};
    std::size_t heard = 0;  // bytes of both
    std::list<pending_client>::iterator self;
    void on_ready(std::uint32_t events) noexcept override;
  };

  void admit(unique_fd fd) noexcept;
  bool is_unwanted(int fd) noexcept;
  bool turn_away_one(int listening) noexcept;
  void hear(pending_client& client) noexcept;
  void begin_sealed(pending_client& client);
  void hear_sealed(pending_client& client) noexcept;
  std::optional<net::tls::key> key_of_name(pending_client& client,
                                           std::span<const std::byte> name) noexcept;
  bool answer(pending_client& client) noexcept;
  void accept_client(pending_client& client) noexcept;
  void dismiss(pending_client& client, bool unauthenticated) noexcept;
  void count_unauthenticated() noexcept;

  runtime::wait_set& sockets_;
  offers& offers_;
  std::vector<address> addresses_;
  std::list<listening_socket> listening_sockets_;
  std::list<pending_client> pending_clients_;
  std::uint64_t unauthenticated_ = 0;
  std::uint64_t handshakes_failed_ = 0;
  bool rests_ = false;
  std::optional<runtime::spare_fd> spare_;
  std::optional<std::chrono::steady_clock::time_point> starved_since_;
};

}  // namespace weft::transports::tcp
