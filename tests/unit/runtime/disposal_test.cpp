// SPDX-License-Identifier: Apache-2.0
// Where descriptors and mappings from peers are closed.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime/descriptors/memory_file.hpp"
#include "support/catch.hpp"
#include "support/lingering.hpp"
#include "support/seccomp.hpp"
#include "support/skip.hpp"

namespace weft::runtime::test {

using tests::lingering_socket;

namespace {

/// A writer of a pipe, and the reader, which finds the end when all holders of the writer have
/// closed it.
struct pipe_ends {
  pipe_ends() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    reader = unique_fd(ends[0]);
    writer = unique_fd(ends[1]);
  }
  void read_to_end() const {
    char one = 0;
    CHECK(::read(reader.get(), &one, 1) == 0);
  }
  unique_fd reader, writer;
};

struct unix_pair {
  unix_pair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    here = unique_fd(ends[0]);
    there = unique_fd(ends[1]);
  }
  void send(std::size_t size) const {
    const std::vector<std::byte> some(size);
    REQUIRE(::send(there.get(), some.data(), size, 0) == static_cast<ssize_t>(size));
  }
  void send_fd(int fd) const {
    const std::byte one{};
    REQUIRE(tests::send_with(there.get(), {&one, 1}, {&fd, 1}) == 1);
  }
  unique_fd here, there;
};

}  // namespace

TEST_CASE("disposal: closes what it is given, also more than may be blocked at a time") {
  const auto where = std::make_shared<disposal>();
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const unique_fd reader(ends[0]);
  unique_fd writer(ends[1]);
  std::vector<unique_fd> all;
  for (int i = 0; i != 100; ++i) all.emplace_back(::dup(writer.get()), where);
  writer = {};
  all.clear();
  char one = 0;
  CHECK(::read(reader.get(), &one, 1) == 0);  // no writer is left
}

TEST_CASE("disposal: a little memory file is closed and unmapped at once") {
  const auto where = std::make_shared<disposal>();
  unique_fd own = make_memory_file("small", 4096);
  const int number = own.get();
  unique_fd file(own.release(), where);
  mapping memory = map_from_peer(file, 4096, false);
  const void* const at = memory.get();
  file = {};
  CHECK(::fcntl(number, F_GETFD) == -1);
  memory = {};
  // Nothing is mapped at that address any more, so this mapping is possible.
  mapping again(::mmap(const_cast<void*>(at), 4096, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
                4096);
  CHECK(again.get() == at);
}

TEST_CASE("disposal: what came from a peer is asked nothing that could block") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const unique_fd a(ends[0]), b(ends[1]);
  CHECK(size_of(a) == 0);
  const unique_fd unsealed(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(unsealed.get(), 4096) == 0);
  CHECK(size_of(unsealed) == 0);
  CHECK(size_of(make_memory_file("sealed", 4096)) == 4096);
}

// Former defects: each of these kept a thread for an hour, and four of them all threads.
TEST_CASE("disposal: sockets that linger, also in queues of sockets, keep no thread") {
  const auto where = std::make_shared<disposal>();
  std::vector<lingering_socket> all(3 * disposal::most_threads);
  std::vector<unique_fd> kept;
  for (std::size_t i = 0; i != all.size(); ++i) {
    unique_fd fd = std::move(all[i].full);
    for (std::size_t depth = 0; depth != i % 3; ++depth) {
      auto both = tests::wrapped(std::move(fd));
      fd = std::move(both[0]);
      kept.push_back(std::move(both[1]));
    }
    where->close(fd.release());
  }
  pipe_ends last;
  where->close(last.writer.release());
  last.read_to_end();
}

TEST_CASE("disposal: hangs up at once if nothing but bytes is left in the connection") {
  const unix_pair p;
  p.send(10);
  p.send(0);
  p.send(10'000);
  CHECK(disposal::shut_down(p.here.get()));
  CHECK(::send(p.there.get(), "a", 1, MSG_NOSIGNAL) == -1);
  unix_pair gone;
  gone.send(1);
  gone.there = {};
  CHECK(disposal::shut_down(gone.here.get()));
}

TEST_CASE("disposal: descriptors that are left in a connection are closed elsewhere") {
  const auto where = std::make_shared<disposal>();
  unix_pair p;
  pipe_ends pipe;
  lingering_socket slow;
  p.send(0);
  p.send(5);
  auto both = tests::wrapped(std::move(slow.full));
  p.send_fd(both[0].get());
  p.send_fd(pipe.writer.get());
  both[0] = {};
  pipe.writer = {};
  CHECK_FALSE(disposal::shut_down(p.here.get()));
  where->hang_up(p.here.release());
  pipe.read_to_end();
}

TEST_CASE("disposal: a listener is closed with clients that sent descriptors; its name is free") {
  const auto where = std::make_shared<disposal>();
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  const std::string name = "weft-disposal-test-" + std::to_string(::getpid());
  std::memcpy(at.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const auto* const address = reinterpret_cast<const sockaddr*>(&at);
  const auto make = [] { return unique_fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); };
  unique_fd listening = make();
  REQUIRE(::bind(listening.get(), address, size) == 0);
  REQUIRE(::listen(listening.get(), 10) == 0);
  pipe_ends pipe;
  std::vector<lingering_socket> slow(3);
  for (lingering_socket& one : slow) {
    const unique_fd client = make();
    REQUIRE(::connect(client.get(), address, size) == 0);
    const int fds[] = {one.full.get(), pipe.writer.get()};
    REQUIRE(tests::send_with(client.get(), {}, fds) == 0);
    one.full = {};
  }
  pipe.writer = {};
  where->stop_listening(listening.release());
  pipe.read_to_end();
  const unique_fd again = make();
  CHECK(::bind(again.get(), address, size) == 0);
}

// A former defect: without threads any number of descriptors was taken, and none closed.
TEST_CASE("disposal: is saturated where no thread can be started, and goes on when one can") {
  if (!tests::can_refuse()) return tests::skip("no seccomp filters here");
  const auto where = std::make_shared<disposal>();
  pipe_ends pipe;
  bool refused = false, is_saturated = false;
  std::thread([&] {  // the filter is of this thread alone
    const tests::refusal none_starts[] = {{SYS_clone, EAGAIN}, {SYS_clone3, EAGAIN}};
    refused = tests::refuse(none_starts);
    for (std::size_t i = 0; i <= disposal::most_waiting; ++i)
      where->close(::dup(pipe.writer.get()));
    is_saturated = where->is_saturated();
  })
      .join();
  REQUIRE(refused);
  CHECK(is_saturated);
  pipe.writer = {};
  static_cast<void>(where->is_saturated());  // its owner asks again and again
  pipe.read_to_end();
  CHECK_FALSE(where->is_saturated());
}

}  // namespace weft::runtime::test
