// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/connecting/socket_connector.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "runtime/os/errno_hint.hpp"

namespace weft::transports::tcp {

namespace {
constexpr unsigned most_tries = 3;  // at one address
}

socket_connector::socket_connector(runtime::wait_set& sockets, std::vector<address> to,
                                   const token& offered, counterpart who,
                                   const net::tls::settings* encryption,
                                   std::chrono::seconds timeout,
                                   std::function<void(stream_socket, const std::string&)> ended)
    : sockets_(sockets),
      says_(make_client_hello(offered)),
      who_(std::move(who)),
      encryption_(encryption),
      timeout_(timeout),
      ended_(std::move(ended)) {
  to_.reserve(to.size() * most_tries);
  later_.reserve(to.size() * most_tries);
  for (const address& at : to) to_.push_back({at});
  try_next();
}

/// Begins with the next address that can be tried. \return false: there is none left
bool socket_connector::try_next() noexcept {
  while (next_ != to_.size()) {
    const target& next = to_[next_++];
    unique_fd fd = begin_connect(next.at, timeout_);
    if (!fd) {
      note(next.at, errno);
      continue;
    }
    try {
      std::list<socket_attempt> fresh(1);
      socket_attempt& a = fresh.front();
      a.in = this;
      a.fd = std::move(fd);
      a.fork_guard.watch(a.fd.get());
      a.to = next;
      a.self = fresh.begin();  // still valid after the splice
      sockets_.add(a.fd.get(), EPOLLOUT, a);
      tried_.splice(tried_.end(), fresh);
      return true;
    } catch (const std::exception& e) {
      note(next.at, e.what());
    }
  }
  return false;
}

socket_connector::~socket_connector() {
  for (socket_attempt& a : tried_)
    if (a.fd) sockets_.remove(a.fd.get());
}

void socket_connector::note(const address& to, int code) noexcept {
  lacks_descriptors_ |= code == EMFILE || code == ENFILE;
  try {
    note(to, runtime::describe_errno(code).c_str());
  } catch (const std::bad_alloc&) {
    note(to, std::strerror(code));
  }
}

void socket_connector::note(const address& to, const char* why) noexcept {
  try {
    reasons_ += fmt::format("{}{}: {}", reasons_.empty() ? "" : "; ", to.text(), why);
  } catch (const std::bad_alloc&) {
    // No memory: that reason is left out.
  }
}

void socket_connector::socket_attempt::on_ready(std::uint32_t /*events*/) noexcept {
  in->go_on(*this);
}

void socket_connector::go_on(socket_attempt& a) noexcept {
  try {
    if (!a.greeted) {
      const int code = connect_result(a.fd.get());
      return code == 0 ? greet(a) : give_up(a, std::strerror(code));
    }
    if (a.sealed) return shake_hands(a);
  } catch (const std::exception& e) {
    return give_up(a, e.what());
  }
  auto* const into = reinterpret_cast<std::byte*>(&a.heard);
  const ssize_t n = ::recv(a.fd.get(), into + a.heard_bytes, sizeof a.heard - a.heard_bytes, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // A reset: the other side has not even read the greeting.
  if (n < 0 && errno != ECONNRESET) return give_up(a, std::strerror(errno));
  if (n <= 0) return hung_up(a);
  a.heard_bytes += static_cast<std::size_t>(n);
  if (a.heard_bytes < sizeof a.heard) return;
  if (!is_proven(who_, says_, a.heard)) return give_up(a, "another process listens there");
  const confirmation shown = confirm(who_, says_, a.heard);
  if (::send(a.fd.get(), &shown, sizeof shown, MSG_NOSIGNAL) != sizeof shown)
    return give_up(a, std::strerror(errno));
  succeed(a);
}

void socket_connector::succeed(socket_attempt& a) {
  sockets_.remove(a.fd.get());
  a.fork_guard.drop();
  const auto ended = std::move(ended_);  // the call may destroy this object
  ended(stream_socket(std::move(a.fd), std::move(a.sealed)), {});
}

void socket_connector::shake_hands(socket_attempt& a) {
  using step = net::tls::step;
  switch (a.sealed->shake_hands()) {
    case step::again:
      return;
    case step::done:
      return succeed(a);
    case step::hung_up:
      return hung_up(a);
    case step::turned_away:
      ++handshakes_failed_;
      return give_up(a, "another process listens there, or does not know this connection");
    case step::failed:
      ++handshakes_failed_;
      break;
  }
  const std::string why = "TLS: " + a.sealed->trouble();
  give_up(a, why.c_str());
}

/// Connected: shows the token. A socket that has sent nothing yet takes the whole greeting.
void socket_connector::greet(socket_attempt& a) {
  if (encryption_) {
    a.sealed = std::make_unique<net::tls::stream>(
        *encryption_, a.fd.get(), std::as_bytes(std::span(says_.token)), key_of(who_, says_.token));
    a.greeted = true;
    sockets_.remove(a.fd.get());
    sockets_.add(a.fd.get(), EPOLLIN, a);
    return shake_hands(a);
  }
  if (::send(a.fd.get(), &says_, sizeof says_, MSG_NOSIGNAL) != sizeof says_)
    throw error(errc::system, fmt::format("send: {}", std::strerror(errno)));
  a.greeted = true;
  sockets_.remove(a.fd.get());
  sockets_.add(a.fd.get(), EPOLLIN, a);
}

void socket_connector::give_up(socket_attempt& a, const char* why) noexcept {
  sockets_.remove(a.fd.get());
  note(a.to.at, why);
  tried_.erase(a.self);
  if (!try_next()) end_if_over();
}

void socket_connector::hung_up(socket_attempt& a) noexcept {
  if (++a.to.tries == most_tries)
    return give_up(a,
                   "it hung up: it has no file descriptor left (ulimit -n), or is another process");
  sockets_.remove(a.fd.get());
  later_.push_back(a.to);
  tried_.erase(a.self);
  try_next();
}

void socket_connector::hurry() noexcept {
  to_.insert(to_.end(), later_.begin(), later_.end());
  later_.clear();
  while (try_next()) {
  }
  end_if_over();
}

void socket_connector::end_if_over() noexcept {
  if (!tried_.empty() || !later_.empty()) return;
  const auto ended = std::move(ended_);  // the call may destroy this object
  ended({}, std::string(reasons_));
}

}  // namespace weft::transports::tcp
