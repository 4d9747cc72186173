// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/acceptor.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace weft::transports::tcp {

namespace {
// How many pending clients there may be. If more come, the oldest of those that have sent nothing
// is dismissed: this needs no clock, and silent clients cannot fill the place. A dismissed peer
// tries again.
constexpr std::size_t most_visitors = 64;
// Connections that come faster than they can be accepted must not keep the progress lock from
// messages.
constexpr int accepts_at_once = 32;
// How long peers wait for descriptors.
constexpr auto time_to_starve = std::chrono::seconds(2);

bool is_want(int code) noexcept { return code == EMFILE || code == ENFILE; }
}  // namespace

acceptor::~acceptor() {
  for (pending_client& v : pending_clients_) sockets_.remove(v.fd.get());
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
      runtime::unique_fd fd = listen_on(at);
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
    text += fmt::format("; {} strangers were turned away", unauthenticated_);
  return text;
}

void acceptor::listening_socket::on_ready(std::uint32_t /*events*/) noexcept {
  for (int n = 0; n != accepts_at_once; ++n) {
    runtime::unique_fd next = accept_one(fd.get());
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

/// Most strangers have sent a wrong greeting, or left, when they are accepted: this check is all
/// that they cost. The greeting of a peer stays to be read.
bool acceptor::is_nobody(int fd) noexcept {
  client_hello said{};
  const ssize_t n = ::recv(fd, &said, sizeof said, MSG_PEEK | MSG_DONTWAIT);
  if (n == 0) return true;
  if (n != sizeof said || (said.magic == magic && said.version == version)) return false;
  count_unauthenticated();
  return true;
}

void acceptor::admit(runtime::unique_fd fd) noexcept {
  if (is_nobody(fd.get())) return;
  if (pending_clients_.size() == most_visitors) {
    const auto silent = std::ranges::find(pending_clients_, std::size_t{0}, &pending_client::heard);
    dismiss(silent != pending_clients_.end() ? *silent : pending_clients_.front(), true);
  }
  try {
    std::list<pending_client> fresh(1);
    pending_client& v = fresh.front();
    v.in = this;
    v.fd = std::move(fd);
    v.fork_guard.watch(v.fd.get());
    v.self = fresh.begin();  // still valid after the splice
    sockets_.add(v.fd.get(), EPOLLIN, v);
    pending_clients_.splice(pending_clients_.end(), fresh);
    hear(v);  // as a rule the peer has sent its greeting by now
  } catch (const std::exception&) {
    // No memory: the connection is closed.
  }
}

void acceptor::pending_client::on_ready(std::uint32_t /*events*/) noexcept { in->hear(*this); }

/// Reads the client hello and the confirmation, and not a byte more: frames may follow.
void acceptor::hear(pending_client& v) noexcept {
  while (v.heard < sizeof v.said + sizeof v.shown) {
    const bool greets = v.heard < sizeof v.said;
    const std::size_t at = greets ? v.heard : v.heard - sizeof v.said;
    auto* const into =
        greets ? reinterpret_cast<std::byte*>(&v.said) : reinterpret_cast<std::byte*>(&v.shown);
    const std::size_t size = greets ? sizeof v.said : sizeof v.shown;
    const ssize_t n = ::recv(v.fd.get(), into + at, size - at, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return dismiss(v, false);  // left before it was authenticated
    v.heard += static_cast<std::size_t>(n);
    if (v.heard == sizeof v.said && !answer(v)) return dismiss(v, true);
  }
  accept_client(v);
}

/// \return false: the client showed no token that was offered
bool acceptor::answer(pending_client& v) noexcept {
  if (v.said.magic != magic || v.said.version != version) return false;
  const counterpart* const who = offers_.offered(v.said.token);
  if (!who) return false;
  try {
    v.answer = make_welcome(*who, v.said);
  } catch (const std::exception&) {
    return false;
  }
  // A socket that has sent nothing yet takes the whole answer.
  return ::send(v.fd.get(), &v.answer, sizeof v.answer, MSG_NOSIGNAL) == sizeof v.answer;
}

void acceptor::accept_client(pending_client& v) noexcept {
  const counterpart* const who = offers_.offered(v.said.token);
  if (!who || !is_confirmed(*who, v.said, v.answer, v.shown)) return dismiss(v, true);
  sockets_.remove(v.fd.get());
  v.fork_guard.drop();
  offers_.take(v.said.token, v.fd);
  dismiss(v, false);
}

void acceptor::dismiss(pending_client& v, bool unauthenticated) noexcept {
  if (v.fd) sockets_.remove(v.fd.get());
  if (unauthenticated) count_unauthenticated();
  pending_clients_.erase(v.self);
}

void acceptor::dismiss_clients() noexcept {
  while (!pending_clients_.empty()) dismiss(pending_clients_.front(), false);
}

void acceptor::count_unauthenticated() noexcept {
  if (unauthenticated_++ != 0) return;
  std::fprintf(stderr,
               "weft: somebody connected to the TCP transport without having been offered to, "
               "and was turned away (said once; context::describe() counts them)\n");
}

}  // namespace weft::transports::tcp
