// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/peer_backlog.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include "net/address.hpp"
#include "runtime/descriptors/fd.hpp"
#include "transports/tcp/socket.hpp"

namespace weft::transports::tcp {

namespace {

struct request {
  nlmsghdr head{};
  inet_diag_req_v2 what{};
};

bool put_end(int fd, bool other_end, std::uint16_t& port, void* ip, std::uint8_t& family) noexcept {
  const auto at = net::address::of_socket(fd, other_end);
  if (!at) return false;
  family = static_cast<std::uint8_t>(at->family());
  port = htons(at->port());
  const net::address::ip_bytes bytes = at->ip();
  std::memcpy(ip, bytes.data(), bytes.size());
  return true;
}

/// The question about the socket at the other end.
std::optional<request> ask_about_other_end(int fd) noexcept {
  request r;
  r.head.nlmsg_len = sizeof r;
  r.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  r.head.nlmsg_flags = NLM_F_REQUEST;
  r.what.sdiag_protocol = IPPROTO_TCP;
  r.what.idiag_states = ~0u;
  inet_diag_sockid& id = r.what.id;
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (!put_end(fd, true, id.idiag_sport, id.idiag_src, r.what.sdiag_family) ||
      !put_end(fd, false, id.idiag_dport, id.idiag_dst, r.what.sdiag_family))
    return {};
  return r;
}

/// Bytes in that socket that its process has not read; nothing: the kernel gives no answer.
std::optional<std::uint32_t> unread(int netlink, const request& r) noexcept {
  if (::send(netlink, &r, sizeof r, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof r)) return {};
  alignas(nlmsghdr) std::array<std::byte, 4096> answer;
  const ssize_t n = ::recv(netlink, answer.data(), answer.size(), 0);
  nlmsghdr head;
  if (n < static_cast<ssize_t>(sizeof head)) return {};
  std::memcpy(&head, answer.data(), sizeof head);
  // An error also says that the socket is closed, or in another network namespace, or that this
  // kernel has no such service: the error is the same.
  inet_diag_msg found;
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
      n < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof found))
    return {};
  std::memcpy(&found, answer.data() + NLMSG_HDRLEN, sizeof found);
  return found.idiag_rqueue;
}

}  // namespace

bool await_read_by_peer(int fd, std::chrono::steady_clock::time_point until) noexcept {
  const unique_fd netlink(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const std::optional<request> question = ask_about_other_end(fd);
  if (!netlink || !question) return false;
  constexpr timespec pause{0, 20'000};
  for (; std::chrono::steady_clock::now() < until; ::nanosleep(&pause, nullptr)) {
    if (is_reset(fd)) return false;
    if (unacknowledged(fd) != 0) continue;
    const std::optional<std::uint32_t> left = unread(netlink.get(), *question);
    if (!left || *left == 0) return left.has_value();
  }
  return false;
}

}  // namespace weft::transports::tcp
