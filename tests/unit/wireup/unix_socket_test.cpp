// SPDX-License-Identifier: Apache-2.0
// Packets with descriptors: what cannot be taken in, and whose fault it is.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "famine.hpp"
#include "support/skip.hpp"
#include "transports/parcel.hpp"
#include "wireup/unix_socket.hpp"

namespace weft::wireup::test {

using runtime::unique_fd;
using transports::parcel;

namespace {

struct ends {
  ends() {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
    near = unique_fd(fds[0]);
    far = unique_fd(fds[1]);
  }
  unique_fd near, far;
};

/// As a peer may that minds no limit of ours: `count` times one descriptor, and one byte.
void send_descriptors(int socket, std::size_t count) {
  std::vector<char> control(CMSG_SPACE(sizeof(int) * count));
  char byte = 'x';
  iovec piece{&byte, 1};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int) * count);
  const std::vector<int> fds(count, socket);
  std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * count);
  REQUIRE(::sendmsg(socket, &message, 0) == 1);
}

int lowest_free() {
  const unique_fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  REQUIRE(fd);
  return fd.get();
}

}  // namespace

TEST_CASE("unix socket: descriptors that find no room here are not called the peer's mistake") {
  if (WEFT_TEST_SANITIZED) return tests::skip("the sanitizer needs descriptors of its own");
  const ends e;
  std::array<std::byte, 64> buffer{};
  packet p;
  send_descriptors(e.far.get(), 3);
  {
    const descriptor_famine famine(0);
    CHECK(receive_packet(e.near.get(), buffer, p) == arrival::no_room);
  }
  CHECK(p.fds.empty());

  send_descriptors(e.far.get(), 3);
  CHECK(receive_packet(e.near.get(), buffer, p) == arrival::packet);
  CHECK(p.fds.size() == 3);
}

TEST_CASE("unix socket: more descriptors than a parcel may carry are, and none stays open") {
  const ends e;
  std::array<std::byte, 64> buffer{};
  packet p;
  const int before = lowest_free();
  send_descriptors(e.far.get(), parcel::max_fds + 1);
  CHECK(receive_packet(e.near.get(), buffer, p) == arrival::broken);
  CHECK(p.fds.empty());
  CHECK(lowest_free() == before);
}

}  // namespace weft::wireup::test
