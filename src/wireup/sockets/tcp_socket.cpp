// SPDX-License-Identifier: Apache-2.0
#include "wireup/sockets/tcp_socket.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <weft/error.hpp>

#include "net/socket.hpp"
#include "runtime/os/errno_hint.hpp"
#include "wireup/base/byte_io.hpp"

namespace weft::wireup {

void prepare_tcp(int socket, std::chrono::seconds timeout) noexcept {
  const int total = static_cast<int>(timeout.count());
  const int step = std::max(1, total / 5);
  net::set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  // Over an idle connection the kernel probes every `step`. It gives up at the first probe at which
  // the silence has lasted for TCP_USER_TIMEOUT; that is before `total` has passed.
  net::set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, total / 2));
  net::set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, step);
  net::set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 100);  // the time decides, not the count
  net::set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, (total - step) * 1000);
  net::set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
}

std::string host_of_peer(const std::string& name) {
  std::string host = name.substr(0, name.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

std::string name_of_peer(int socket) {
  const auto there = net::address::of_socket(socket, true);
  return there ? there->text() : "an unknown address";
}

unique_fd listen_tcp(const std::vector<std::string>& addresses, std::uint16_t& port) {
  const bool one = addresses.size() == 1;
  const auto listen = [](const std::string& host) {
    return net::listen_on(*net::address::of_text(host), net::takes::ipv4_too, SOMAXCONN);
  };
  unique_fd fd = listen(one ? addresses.front() : "::");
  if (!fd && !one) fd = listen("0.0.0.0");  // no IPv6 in the kernel
  if (!fd)
    throw error(errc::system, fmt::format("cannot listen over TCP at {}: {}",
                                          one ? addresses.front() : "any address",
                                          runtime::describe_errno(errno)));
  const auto bound = net::address::of_socket(fd.get(), false);
  port = bound ? bound->port() : std::uint16_t{0};
  return fd;
}

std::vector<std::string> addresses_of_host(const std::vector<std::string>& interfaces) {
  std::vector<std::string> v4, v6;
  for (const net::interface_address& i : net::interface_addresses()) {
    const bool named = std::ranges::find(interfaces, i.name) != interfaces.end();
    if (!i.at || !i.is_up || (interfaces.empty() ? i.is_loopback : !named)) continue;
    (i.at->is_v6() ? v6 : v4).push_back(i.at->host());
  }
  v4.insert(v4.end(), v6.begin(), v6.end());
  if (v4.empty() && !interfaces.empty())
    throw error(
        errc::invalid_argument,
        fmt::format("no interface named in WEFT_TCP_INTERFACES ({}) is up and has an address; "
                    "`ip address` shows those that are",
                    fmt::join(interfaces, ",")));
  if (v4.empty()) v4.push_back("127.0.0.1");
  if (v4.size() > max_places) v4.resize(max_places);
  return v4;
}

ssize_t stream_frames::read(int socket, std::span<std::byte> into) noexcept {
  return sealed_ ? sealed_->read(into) : ::recv(socket, into.data(), into.size(), MSG_DONTWAIT);
}

arrival stream_frames::fill(int socket, std::size_t wanted) {
  if (in_.size() < wanted) in_.resize(wanted);
  while (have_ < wanted) {
    const ssize_t got = read(socket, std::span(in_).subspan(have_, wanted - have_));
    if (got > 0) {
      have_ += static_cast<std::size_t>(got);
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return arrival::nothing;
    } else {
      return arrival::end;  // the other side closed, or the connection broke
    }
  }
  return arrival::packet;
}

arrival stream_frames::receive(int socket, packet& into) {
  into.bytes = {};
  into.fds.clear();
  if (have_ == 0) std::vector<std::byte>().swap(in_);
  if (const arrival a = fill(socket, frame_header::size); a != arrival::packet) {
    if (have_ == 0) std::vector<std::byte>().swap(in_);
    if (sealed_) sealed_->rest();
    return a;
  }
  byte_reader head(std::span<const std::byte>(in_).first(frame_header::size));
  head.get<std::uint16_t>();
  const std::size_t fds = head.get<std::uint16_t>();
  const std::size_t length = head.get<std::uint32_t>();
  if (fds != 0 || length > max_frame_body) return arrival::broken;
  const std::size_t whole = frame_header::size + length;
  if (const arrival a = fill(socket, whole); a != arrival::packet) return a;
  have_ = 0;
  into.bytes = std::span(in_).first(whole);
  return arrival::packet;
}

/// What is sealed counts as sent, and the frame when all of it has left.
int stream_frames::send_sealed(std::span<const std::byte> head,
                               std::span<const std::byte> body) noexcept {
  for (const std::span<const std::byte> part : {head, body}) {
    const bool is_head = part.data() == head.data();
    const std::size_t begin = is_head ? 0 : head.size();
    while (sent_ < begin + part.size()) {
      const ssize_t n = sealed_->write(part.subspan(sent_ - begin), is_head);
      if (n < 0) return errno;
      sent_ += static_cast<std::size_t>(n);
    }
  }
  if (!sealed_->flush()) return errno;
  sent_ = 0;
  return 0;
}

int stream_frames::send(int socket, const frame& f) {
  const auto head = frame_header::of(f);
  if (sealed_) return send_sealed(head, f.body);
  const std::size_t whole = head.size() + f.body.size();
  while (sent_ < whole) {
    const std::size_t head_sent = std::min(sent_, head.size());
    const std::size_t body_sent = sent_ - head_sent;
    std::array<iovec, 2> pieces{
        iovec{const_cast<std::byte*>(head.data()) + head_sent, head.size() - head_sent},  // NOLINT
        iovec{const_cast<std::byte*>(f.body.data()) + body_sent, f.body.size() - body_sent}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t n = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0)
      sent_ += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      return errno;
  }
  sent_ = 0;
  return 0;
}

}  // namespace weft::wireup
