// SPDX-License-Identifier: Apache-2.0
// The other end of a context's sockets, without a connection manager: sends what a manager never
// sends.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "node.hpp"
#include "support/catch.hpp"
#include "support/lingering.hpp"
#include "wireup/auth/introduction.hpp"
#include "wireup/sockets/address.hpp"

namespace weft::wireup::test {

using bytes = std::vector<std::byte>;

inline int send_raw(const unique_fd& to, const bytes& what, std::size_t fd_count = 0) {
  std::vector<unique_fd> fds;
  for (std::size_t i = 0; i < fd_count; ++i) fds.emplace_back(::dup(0));
  return send_packet(to.get(), what, {}, fds);
}

/// Sends as a peer may that ignores our limits: `count` times its own socket, and `last` after
/// them.
inline ssize_t send_descriptors(int socket, const bytes& what, std::size_t count, int last = -1) {
  std::vector<int> fds(count, socket);
  if (last >= 0) fds.push_back(last);
  return tests::send_with(socket, what, fds);
}

struct lingering : tests::lingering_socket {
  /// This object may be the last holder, if the other side was quick: then this object waits, not
  /// the caller.
  void let_go() {
    closing = std::jthread([fd = std::move(full)] {});
  }
  /// Reads until the end, which comes when the last holder has closed it.
  void read_all() const {
    bytes some(64 * 1024);
    ssize_t n = 0;
    while ((n = ::read(reader.get(), some.data(), some.size())) > 0) continue;
    CHECK(n == 0);
  }
  std::jthread closing;  // ends when no thread reads any more
};

inline bytes bytes_of(const frame& f) {
  const auto head = frame_header::of(f);
  bytes all(head.size() + f.body.size());
  std::ranges::copy(f.body, std::ranges::copy(head, all.begin()).out);
  return all;
}

inline hello good_hello() {
  hello h;
  h.who.locator = random_socket_name();
  return h;
}

/// Reads until the other side hangs up. \return the frames before that
inline std::vector<frame> last_words(const unique_fd& from) {
  std::vector<frame> said;
  for (;;) {
    std::array<std::byte, 32 * 1024> buffer;
    const ssize_t n = ::recv(from.get(), buffer.data(), buffer.size(), 0);
    if (n <= 0) return said;
    auto f = frame_header::parse(std::span(buffer).first(static_cast<std::size_t>(n)), {});
    REQUIRE(f);
    said.push_back(std::move(*f));
  }
}

inline frame receive_one(const unique_fd& from) {
  std::array<std::byte, 32 * 1024> buffer;
  const ssize_t n = ::recv(from.get(), buffer.data(), buffer.size(), 0);
  REQUIRE(n > 0);
  auto f = frame_header::parse(std::span(buffer).first(static_cast<std::size_t>(n)), {});
  REQUIRE(f);
  return std::move(*f);
}

/// A socket to a context that has sent its invitation.
struct raw_end : unique_fd {
  frame invitation;
};

inline raw_end raw_connection(const std::string& locator) {
  opened socket = connect_abstract(locator);
  REQUIRE(socket.fd);
  REQUIRE(::fcntl(socket.fd.get(), F_SETFL, 0) == 0);  // blocking from here on
  frame invitation = receive_one(socket.fd);
  REQUIRE(invitation.kind == frame_kind::invitation);
  return {std::move(socket.fd), std::move(invitation)};
}

/// The hello of a context with that key, for that connection.
inline frame hello_for(const raw_end& end, const hello& h = good_hello(),
                       const context_key& key = {}) {
  initiator one(key, {});
  REQUIRE(one.hear(end.invitation).value == id_of(decode_invitation(end.invitation).value->key));
  return one.greet(h);
}

/// Says hello as a correct peer does.
inline raw_end admitted(node& host) {
  raw_end socket = raw_connection(host->self().locator);
  REQUIRE(send_raw(socket, bytes_of(hello_for(socket))) == 0);
  REQUIRE(receive_one(socket).kind == frame_kind::welcome);
  return socket;
}

inline bytes garbage(std::mt19937& random, std::size_t size) {
  bytes b(size);
  std::ranges::generate(b, [&] { return static_cast<std::byte>(random()); });
  return b;
}

inline void check_still_well(node& host) {
  node guest;
  const outcome o = guest.connect(host->self().locator);
  REQUIRE(o.failure == "");
  o.channel->send(make_wireup_message(9, "well"));
  CHECK(text_of(host.wireup_messages.next().wireup_message) == "well");
  o.channel->close();
  for (;;) {
    const end_of end = host.ends.next();
    if (end.channel->peer().id != guest->self().id) continue;  // from an earlier try
    CHECK(end.how.orderly());
    return;
  }
}

}  // namespace weft::wireup::test
