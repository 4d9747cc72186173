// SPDX-License-Identifier: Apache-2.0
// Packets with descriptors: which cannot be received, and which side is to blame.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include <weft/transport/wireup_message.hpp>

#include "runtime/descriptors/rights.hpp"
#include "support/catch.hpp"
#include "support/descriptors.hpp"
#include "support/skip.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup::test {

using transports::wireup_message;

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
  REQUIRE(send_descriptors(e.far.get(), bytes(1), 3) == 1);
  {
    const tests::descriptor_famine famine(0);
    CHECK(receive_packet(e.near.get(), buffer, p) == arrival::no_room);
  }
  CHECK(p.fds.empty());

  REQUIRE(send_descriptors(e.far.get(), bytes(1), 3) == 1);
  CHECK(receive_packet(e.near.get(), buffer, p) == arrival::packet);
  CHECK(p.fds.size() == 3);
}

TEST_CASE(
    "unix socket: more descriptors than a wire-up message may carry are, and none stays open") {
  const ends e;
  std::array<std::byte, 64> buffer{};
  packet p;
  const int before = lowest_free();
  REQUIRE(send_descriptors(e.far.get(), bytes(1), wireup_message::max_fds + 1) == 1);
  CHECK(receive_packet(e.near.get(), buffer, p) == arrival::broken);
  CHECK(p.fds.empty());
  CHECK(lowest_free() == before);
}

// A former defect: each of these waited for an hour.
TEST_CASE("unix socket: a descriptor whose close would block is closed elsewhere") {
  ends e;
  lingering socket;
  std::array<std::byte, 64> buffer{};
  packet p;
  p.disposal = std::make_shared<runtime::disposal>();
  SECTION("one that came whole") {
    std::vector<unique_fd> all;
    all.push_back(std::move(socket.full));
    REQUIRE(send_packet(e.far.get(), bytes(1), {}, all) == 0);
    all.clear();
    CHECK(receive_packet(e.near.get(), buffer, p) == arrival::packet);
    CHECK(p.fds.size() == 1);
  }
  SECTION("behind as many as a wire-up message may carry") {
    REQUIRE(send_descriptors(e.far.get(), bytes(1), wireup_message::max_fds, socket.full.get()) ==
            1);
    socket.full = {};
    CHECK(receive_packet(e.near.get(), buffer, p) == arrival::broken);
    p.disposal->hang_up(e.near.release());
  }
  p.fds.clear();
  socket.read_all();
}

// A former defect: what found no number here was closed by the kernel, on this thread.
TEST_CASE("unix socket: without numbers here a descriptor stays in its packet") {
  if (WEFT_TEST_SANITIZED) return tests::skip("the sanitizer needs descriptors of its own");
  ends e;
  lingering socket;
  std::array<std::byte, 64> buffer{};
  packet p;
  p.disposal = std::make_shared<runtime::disposal>();
  REQUIRE(send_descriptors(e.far.get(), bytes(1), 0, socket.full.get()) == 1);
  socket.full = {};
  {
    const tests::descriptor_famine famine(0);
    CHECK(receive_packet(e.near.get(), buffer, p) == arrival::no_room);
    p.disposal->hang_up(e.near.release());
  }
  socket.read_all();
}

TEST_CASE(
    "unix socket: no descriptors reach a listener, or a socket that has not checked its peer") {
  const std::string name = random_socket_name();
  const opened listening = listen_abstract(name);
  REQUIRE(listening.fd);
  const opened client = connect_abstract(name);
  REQUIRE(client.fd);
  if (send_descriptors(client.fd.get(), bytes(1), 1) > 0)
    return tests::skip("this kernel lets them in (SO_PASSRIGHTS is of Linux 6.16)");
  CHECK(errno == EPERM);
  const opened served = accept_one(listening.fd.get());
  REQUIRE(served.fd);
  CHECK(send_descriptors(client.fd.get(), bytes(1), 1) < 0);
  CHECK(send_descriptors(served.fd.get(), bytes(1), 1) < 0);
  runtime::let_descriptors_in(served.fd.get(), true);
  CHECK(send_descriptors(client.fd.get(), bytes(1), 1) == 1);
  CHECK(send_descriptors(served.fd.get(), bytes(1), 1) < 0);
}

TEST_CASE("unix socket: what another process calls itself cannot paint the terminal") {
  std::array<char, 16> before{};
  REQUIRE(::prctl(PR_GET_NAME, before.data()) == 0);
  REQUIRE(::prctl(PR_SET_NAME, "a\033[31mb") == 0);
  const std::string told = describe_process(::getpid());
  REQUIRE(::prctl(PR_SET_NAME, before.data()) == 0);
  CHECK(told == "process " + std::to_string(::getpid()) + " (a?[31mb)");
}

}  // namespace weft::wireup::test
