// SPDX-License-Identifier: Apache-2.0
// Wake-ups between processes: received once sent, and harmless for any behaviour of the other side.
#include <fmt/format.h>
#include <poll.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/descriptors/remote_wakeup.hpp"
#include "support/catch.hpp"
#include "support/lingering.hpp"

using weft::runtime::wakeup_address;
using weft::runtime::wakeup_receiver;
using weft::runtime::wakeup_sender;

namespace {

bool heard(const wakeup_receiver& ear) {
  pollfd p{ear.fd(), POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

/// Sends datagrams of its own to a bell.
struct outsider {
  explicit outsider(const wakeup_receiver& ear)
      : fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const auto& name = ear.address().name;
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    const auto end = fmt::format_to(at.sun_path + 1, "weft-bell-{:016x}{:016x}", name[0], name[1]);
    const auto size = static_cast<socklen_t>(end - reinterpret_cast<char*>(&at));
    REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), size) == 0);
  }
  weft::unique_fd fd;
};

/// A pipe: its reader finds the end when all holders of the writer have closed it.
struct pipe_ends {
  pipe_ends() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    reader = weft::unique_fd(ends[0]);
    writer = weft::unique_fd(ends[1]);
  }
  void read_to_end() const {
    char one = 0;
    CHECK(::read(reader.get(), &one, 1) == 0);
  }
  weft::unique_fd reader, writer;
};

}  // namespace

TEST_CASE("remote bell: heard from the first ring until it is drained") {
  wakeup_receiver ear;
  wakeup_sender one, other;
  CHECK_FALSE(heard(ear));
  one.ring(ear.address());
  other.ring(ear.address());
  one.ring(ear.address());
  CHECK(heard(ear));
  ear.drain();
  CHECK_FALSE(heard(ear));
  other.ring(ear.address());
  CHECK(heard(ear));
}

TEST_CASE("remote bell: ringing one that never listens does not block, and is heard at last") {
  wakeup_receiver ear;
  wakeup_sender rope, latecomer;
  errno = EDOM;
  for (int i = 0; i < 100'000; ++i) rope.ring(ear.address());
  latecomer.ring(ear.address());
  CHECK(errno == EDOM);
  CHECK(heard(ear));
  while (heard(ear)) ear.drain();
  latecomer.ring(ear.address());
  CHECK(heard(ear));
}

TEST_CASE("remote bell: an ear that is gone raises no signal") {
  std::optional<wakeup_receiver> ear(std::in_place);
  const wakeup_address there = ear->address();
  wakeup_sender rope;
  rope.ring(there);
  ear.reset();
  rope.ring(there);
  rope.ring(there);
}

TEST_CASE("remote bell: a name that no process has is rung without effect") {
  wakeup_sender rope;
  errno = EDOM;
  rope.ring({{1, 2}, {}});
  CHECK(errno == EDOM);
}

TEST_CASE("remote bell: those that never listen keep no ring from others") {
  wakeup_sender rope;
  // More than the kernel takes from one socket before they are drained.
  std::vector<wakeup_receiver> deaf(400);
  for (const wakeup_receiver& ear : deaf)
    for (int i = 0; i != 20; ++i) rope.ring(ear.address());
  for (const wakeup_receiver& ear : deaf) CHECK(heard(ear));
  wakeup_receiver last;
  rope.ring(last.address());
  CHECK(heard(last));
}

TEST_CASE("remote bell: who knows its name only is not heard, and leaves no descriptor there") {
  const wakeup_receiver ear;
  const outsider other(ear);
  pipe_ends pipe;
  // The secret of another bell, and pieces of this one's.
  const wakeup_receiver another;
  auto nearly = ear.address().secret;
  nearly[1] ^= 1;
  for (const auto& says : {another.address().secret, nearly, {}}) {
    ::send(other.fd.get(), &says, sizeof says, 0);
    const int fd = pipe.writer.get();
    weft::tests::send_with(other.fd.get(), std::as_bytes(std::span(says)), {&fd, 1});
  }
  ::send(other.fd.get(), &ear.address().secret, sizeof ear.address().secret - 1, 0);
  ::send(other.fd.get(), nullptr, 0, 0);
  CHECK_FALSE(heard(ear));
  pipe.writer = {};
  pipe.read_to_end();
  wakeup_sender rope;
  rope.ring(ear.address());
  CHECK(heard(ear));
}

TEST_CASE("remote bell: descriptors that come with a ring are refused, or closed elsewhere") {
  wakeup_receiver ear;
  const outsider other(ear);
  pipe_ends pipe;
  weft::tests::lingering_socket slow;
  const int fds[] = {pipe.writer.get(), slow.full.get()};
  const auto& secret = ear.address().secret;
  const ssize_t n = weft::tests::send_with(other.fd.get(), std::as_bytes(std::span(secret)), fds);
  if (n < 0) CHECK(errno == EPERM);  // from Linux 6.16
  CHECK(heard(ear) == (n > 0));
  slow.full = weft::unique_fd(slow.full.release(), std::make_shared<weft::runtime::disposal>());
  slow.full = {};
  pipe.writer = {};
  ear.drain();
  pipe.read_to_end();
}
