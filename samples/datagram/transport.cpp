// SPDX-License-Identifier: Apache-2.0
#include "transport.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "datagram.hpp"
#include "link.hpp"

namespace datagram {

namespace {

constexpr std::size_t longest =
    sizeof(wt::frame_header) + sizeof(wt::frame_extension) + max_payload;
constexpr unsigned frames_per_pass = 32;
// A look is a system call, so a thread that polls looks in some passes only.
constexpr unsigned passes_per_look = 8;

/// Everything in an offer is the peer's word. \return empty, or what is wrong
std::string check(const wt::wireup_message& offer) {
  if (offer.fds.size() != 1) return "the offer has no socket";
  int type = 0, family = 0;
  socklen_t size = sizeof type;
  const int socket = offer.fds[0].get();
  if (::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
      ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 || type != SOCK_SEQPACKET ||
      family != AF_UNIX)
    return "the offer is no socket for datagrams";
  return {};
}

}  // namespace

datagram_transport::datagram_transport(wt::services& engine)
    : engine_(engine),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      outgoing_buffer_(longest),
      incoming_buffer_(longest) {
  if (!events_)
    throw weft::error(weft::errc::system, "no descriptor for an epoll set; raise `ulimit -n`");
}

const wt::traits& datagram_transport::traits() const noexcept {
  static constexpr wt::traits constant{.name = "datagram",
                                       .max_payload = max_payload,
                                       .fragment = max_payload,
                                       .shares_memory = true,
                                       .passes_any_descriptor = true};
  return constant;
}

std::string datagram_transport::reach(bool is_self) const {
  return is_self ? "a process reaches itself by `self`" : "";
}

std::string datagram_transport::describe() const { return "datagram (Unix sockets)"; }

std::unique_ptr<wt::link> datagram_transport::open(wt::frame_sink& from, const wt::counterpart&,
                                                   wt::wireup_message& offer) {
  int both[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both) != 0)
    throw weft::error(weft::errc::system, std::string("no pair of sockets: ") +
                                              std::strerror(errno) + "; raise `ulimit -n`");
  weft::unique_fd mine(both[0]);
  offer.fds.emplace_back(both[1]);
  lost_.reserve(++links_);  // `lost` must not throw
  return std::make_unique<datagram_link>(*this, from, std::move(mine));
}

std::string datagram_transport::accept(wt::frame_sink& to, const wt::counterpart&,
                                       wt::wireup_message offer, wt::wireup_message&) {
  if (std::string wrong = check(offer); !wrong.empty()) return wrong;
  forget(to);
  const auto [it, added] =
      incoming_.emplace(std::piecewise_construct, std::forward_as_tuple(&to),
                        std::forward_as_tuple(*this, to, std::move(offer.fds[0])));
  if (!watch(it->second.socket(), EPOLLIN, it->second)) {
    incoming_.erase(it);
    return "the kernel has no memory to watch the socket";
  }
  return {};
}

/// What has arrived is delivered, piece by piece: it was sent before the news of the peer's end.
bool datagram_transport::drain_peer(wt::frame_sink& from) noexcept {
  const auto it = incoming_.find(&from);
  if (it == incoming_.end()) return true;
  for (unsigned n = 0; n != frames_per_pass; ++n)
    if (!it->second.take_frame()) return true;
  return false;
}

void datagram_transport::forget(wt::frame_sink& from) noexcept {
  drain_peer(from);
  const auto it = incoming_.find(&from);
  if (it == incoming_.end()) return;
  unwatch(it->second.socket());
  incoming_.erase(it);
}

void datagram_transport::link_ended(wt::frame_sink& peer) noexcept {
  --links_;
  std::erase(lost_, &peer);
}

void datagram_transport::lost(wt::frame_sink& peer) noexcept {
  if (std::find(lost_.begin(), lost_.end(), &peer) == lost_.end()) lost_.push_back(&peer);
  busy = true;
  engine_.look_after();
}

bool datagram_transport::watch(int socket, std::uint32_t events, watched& w) noexcept {
  epoll_event e{};
  e.events = events;
  e.data.ptr = &w;
  worth_watching = true;
  engine_.look_after();  // a thread that sleeps does not watch the set yet
  return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, socket, &e) == 0;
}

void datagram_transport::unwatch(int socket) noexcept {
  ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, socket, nullptr);
}

unsigned datagram_transport::poll() noexcept {
  unsigned handled = 0;
  while (!lost_.empty()) {
    wt::frame_sink& peer = *lost_.back();
    // A peer that leaves in good order reads no more, and what it has sent counts.
    if (!drain_peer(peer)) return frames_per_pass;
    if (lost_.empty() || lost_.back() != &peer) continue;  // one of these frames has ended it
    lost_.pop_back();
    ++handled;
    peer.on_broken(weft::errc::peer_lost);
  }
  busy = false;
  if (!ready_ && ++passes_ % passes_per_look != 0) return handled;
  while (handled < frames_per_pass && take_event()) ++handled;
  ready_ = handled >= frames_per_pass;
  return handled;
}

/// One event at a time: what one of them causes may end the sockets of others.
bool datagram_transport::take_event() noexcept {
  epoll_event e{};
  if (::epoll_wait(events_.get(), &e, 1, 0) != 1) return false;
  static_cast<watched*>(e.data.ptr)->on_event();
  return true;
}

/// Before a thread sleeps: what comes later makes handle() readable.
bool datagram_transport::has_work() noexcept {
  epoll_event e{};
  ready_ = busy || ::epoll_wait(events_.get(), &e, 1, 0) == 1;
  return ready_;
}

bool incoming::take_frame() noexcept {
  if (ended_) return false;
  std::vector<std::byte>& buffer = transport_.incoming_buffer();
  const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) {  // the peer's link has ended; weft's control plane tells why
    ended_ = true;
    transport_.unwatch(socket_.get());
    return false;
  }
  const auto size = static_cast<std::size_t>(n);
  wt::frame_header header;
  if (size < sizeof header || size > buffer.size()) return refuse();
  std::memcpy(&header, buffer.data(), sizeof header);
  const std::size_t more = wt::extension_size(header);
  if (header.size > max_payload || size != sizeof header + more + header.size) return refuse();
  wt::frame_extension extension;
  std::memcpy(&extension, buffer.data() + sizeof header, more);
  if (!to_.on_frame(header, wt::extension_of(header, extension),
                    buffer.data() + sizeof header + more))
    return refuse();
  return true;
}

/// No correct peer sends that.
bool incoming::refuse() noexcept {
  ended_ = true;
  transport_.unwatch(socket_.get());
  to_.on_broken(weft::errc::protocol_error);
  return false;
}

weft::transports::factory kind() {
  return {"datagram", [](wt::services& engine, const weft::options&, std::string&) {
            return std::make_unique<datagram_transport>(engine);
          }};
}

}  // namespace datagram
