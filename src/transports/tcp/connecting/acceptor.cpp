// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/connecting/acceptor.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace weft::transports::tcp {

namespace {
// How many pending clients there may be. If more come, the oldest of those that have sent nothing
// is dismissed: this needs no clock, and silent clients cannot fill the place. A dismissed peer
// tries again.
constexpr std::size_t most_pending_clients = 64;
// Connections that come faster than they can be accepted must not keep the progress lock from
// messages.
constexpr int accepts_at_once = 32;
// How long peers wait for descriptors.
constexpr auto time_to_starve = std::chrono::seconds(2);

// The first byte of a TLS handshake. A bare greeting begins with the magic.
constexpr std::byte of_handshake{0x16};

bool is_want(int code) noexcept { return code == EMFILE || code == ENFILE; }

bool begins_handshake(int fd) noexcept {
  std::byte first{};
  return ::recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1 && first == of_handshake;
}
}  // namespace

acceptor::~acceptor() {
  for (pending_client& client : pending_clients_) sockets_.remove(client.fd.get());
  for (listening_socket& d : listening_sockets_) sockets_.remove(d.fd.get());
}

const std::vector<address>& acceptor::open(const std::vector<std::string>& interfaces) {
  if (!listening_sockets_.empty()) return addresses_;
  const std::vector<address> all = own_addresses(interfaces);
  addresses_.reserve(all.size());  // no listener without its address, should memory end here
  std::string refusals;
  for (const address& own : all) {
    address at = own;
    try {
      unique_fd fd = listen_on(at);
      if (!spare_) spare_.emplace(fd.get());
      listening_socket& d = listening_sockets_.emplace_back();
      d.in = this;
      d.fd = std::move(fd);
      d.fork_guard.watch(d.fd.get());
      try {
        sockets_.add(d.fd.get(), EPOLLIN, d);
      } catch (...) {
        listening_sockets_.pop_back();
        throw;
      }
      addresses_.push_back(at);
    } catch (const error& e) {
      refusals += fmt::format("{}; ", e.what());
    }
  }
  if (listening_sockets_.empty()) throw error(errc::system, refusals);
  return addresses_;
}

std::string acceptor::describe() const {
  std::string text;
  for (const address& a : addresses_) text += (text.empty() ? "listens on " : ", ") + a.text();
  if (listening_sockets_.empty()) text = "not listening: nobody was offered to connect";
  if (unauthenticated_ != 0)
    text += fmt::format("; {} unauthenticated clients were turned away", unauthenticated_);
  return text;
}

void acceptor::listening_socket::on_ready(std::uint32_t /*events*/) noexcept {
  for (int n = 0; n != accepts_at_once; ++n) {
    unique_fd next = accept_one(fd.get());
    if (!next) {
      const int code = errno;
      if (is_want(code) && in->turn_away_one(fd.get())) continue;
      return refused(code);
    }
    in->starved_since_.reset();
    in->admit(std::move(next));
  }
}

/// Peers that lack descriptors, too, may wait for this connection to be turned away. \return false:
/// no client has waited long enough
bool acceptor::turn_away_one(int listening) noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (!starved_since_) starved_since_ = now;
  if (now - *starved_since_ < time_to_starve) return false;
  const bool done = spare_->turn_away(listening, [](int) {});
  if (!done) starved_since_.reset();  // no client waits any more
  return done;
}

void acceptor::listening_socket::refused(int code) noexcept {
  if (code == EAGAIN) in->starved_since_.reset();
  if (code == EAGAIN || code == EINTR || code == ECONNABORTED) return;
  // Out of descriptors: the waiting client would make every poll of this socket return.
  in->sockets_.remove(fd.get());
  in->rests_ = true;
}

void acceptor::resume() noexcept {
  if (!std::exchange(rests_, false)) return;
  for (listening_socket& d : listening_sockets_) {
    sockets_.remove(d.fd.get());
    try {
      sockets_.add(d.fd.get(), EPOLLIN, d);
    } catch (const error&) {
      rests_ = true;
    }
  }
}

/// Most unauthenticated clients have sent a wrong greeting, or left, when they are accepted: this
/// check is all that they cost. The greeting of a peer stays to be read.
bool acceptor::is_unwanted(int fd) noexcept {
  client_hello said{};
  const ssize_t n = ::recv(fd, &said, sizeof said, MSG_PEEK | MSG_DONTWAIT);
  if (n == 0) return true;
  if (n > 0 && std::as_bytes(std::span(&said, 1)).front() == of_handshake) {
    if (offers_.encryption_of_offers()) return false;
    count_unauthenticated();
    return true;
  }
  if (n != sizeof said || (said.magic == magic && said.version == version)) return false;
  count_unauthenticated();
  return true;
}

void acceptor::admit(unique_fd fd) noexcept {
  if (is_unwanted(fd.get())) return;
  if (pending_clients_.size() == most_pending_clients) {
    const auto silent = std::ranges::find(pending_clients_, std::size_t{0}, &pending_client::heard);
    dismiss(silent != pending_clients_.end() ? *silent : pending_clients_.front(), true);
  }
  try {
    std::list<pending_client> fresh(1);
    pending_client& client = fresh.front();
    client.in = this;
    client.fd = std::move(fd);
    client.fork_guard.watch(client.fd.get());
    client.self = fresh.begin();  // still valid after the splice
    sockets_.add(client.fd.get(), EPOLLIN, client);
    pending_clients_.splice(pending_clients_.end(), fresh);
    hear(client);  // as a rule the peer has sent its greeting by now
  } catch (const std::exception&) {
    // No memory: the connection is closed.
  }
}

void acceptor::pending_client::on_ready(std::uint32_t /*events*/) noexcept { in->hear(*this); }

/// Reads the client hello and the confirmation, and not a byte more: frames may follow.
void acceptor::hear(pending_client& client) noexcept {
  if (client.sealed) return hear_sealed(client);
  if (client.heard == 0 && begins_handshake(client.fd.get())) {
    try {
      begin_sealed(client);
    } catch (const std::exception&) {
      return dismiss(client, false);  // no memory
    }
    return client.sealed ? hear_sealed(client) : dismiss(client, true);
  }
  while (client.heard < sizeof client.said + sizeof client.shown) {
    const bool greets = client.heard < sizeof client.said;
    const std::size_t at = greets ? client.heard : client.heard - sizeof client.said;
    auto* const into = greets ? reinterpret_cast<std::byte*>(&client.said)
                              : reinterpret_cast<std::byte*>(&client.shown);
    const std::size_t size = greets ? sizeof client.said : sizeof client.shown;
    const ssize_t n = ::recv(client.fd.get(), into + at, size - at, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return dismiss(client, false);  // left before it was authenticated
    client.heard += static_cast<std::size_t>(n);
    if (client.heard == sizeof client.said && !answer(client)) return dismiss(client, true);
  }
  accept_client(client);
}

void acceptor::begin_sealed(pending_client& client) {
  const net::tls::settings* const with = offers_.encryption_of_offers();
  if (!with) return;
  client.heard = 1;
  client.sealed = std::make_unique<net::tls::stream>(
      *with, client.fd.get(),
      [this, &client](std::span<const std::byte> name) { return key_of_name(client, name); });
}

std::optional<net::tls::key> acceptor::key_of_name(pending_client& client,
                                                   std::span<const std::byte> name) noexcept {
  token shown;
  if (name.size() != sizeof shown) return {};
  std::memcpy(shown.data(), name.data(), sizeof shown);
  const auto to = offers_.offered(shown);
  if (!to || !net::tls::takes(to->stance)) return {};
  client.said.token = shown;
  client.heard = sizeof client.said;
  return key_of(*to->who, shown);
}

void acceptor::hear_sealed(pending_client& client) noexcept {
  using step = net::tls::step;
  const step now = client.sealed->shake_hands();
  if (now == step::again) return;
  if (now == step::turned_away || now == step::failed) ++handshakes_failed_;
  if (now != step::done || !offers_.offered(client.said.token))
    return dismiss(client, now != step::hung_up);
  sockets_.remove(client.fd.get());
  client.fork_guard.drop();
  offers_.take(client.said.token, stream_socket(std::move(client.fd), std::move(client.sealed)));
  dismiss(client, false);
}

/// \return false: the client showed no token that was offered
bool acceptor::answer(pending_client& client) noexcept {
  if (client.said.magic != magic || client.said.version != version) return false;
  const auto to = offers_.offered(client.said.token);
  if (!to || net::tls::wants(to->stance)) return false;
  try {
    client.answer = make_welcome(*to->who, client.said);
  } catch (const std::exception&) {
    return false;
  }
  // A socket that has sent nothing yet takes the whole answer.
  return ::send(client.fd.get(), &client.answer, sizeof client.answer, MSG_NOSIGNAL) ==
         sizeof client.answer;
}

void acceptor::accept_client(pending_client& client) noexcept {
  const auto to = offers_.offered(client.said.token);
  if (!to || !is_confirmed(*to->who, client.said, client.answer, client.shown))
    return dismiss(client, true);
  sockets_.remove(client.fd.get());
  client.fork_guard.drop();
  offers_.take(client.said.token, stream_socket(std::move(client.fd)));
  dismiss(client, false);
}

void acceptor::dismiss(pending_client& client, bool unauthenticated) noexcept {
  if (client.fd) sockets_.remove(client.fd.get());
  if (unauthenticated) count_unauthenticated();
  pending_clients_.erase(client.self);
}

bool acceptor::has_answered(const token& shown) const noexcept {
  return std::ranges::any_of(pending_clients_, [&](const pending_client& client) {
    return client.heard >= sizeof client.said && client.said.token == shown;
  });
}

void acceptor::dismiss_clients() noexcept {
  while (!pending_clients_.empty()) dismiss(pending_clients_.front(), false);
}

void acceptor::count_unauthenticated() noexcept {
  if (unauthenticated_++ == 0) offers_.turned_away();
}

}  // namespace weft::transports::tcp
