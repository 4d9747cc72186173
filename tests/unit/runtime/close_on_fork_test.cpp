// SPDX-License-Identifier: Apache-2.0
// Sockets that a child of this process does not keep.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include "runtime/descriptors/close_on_fork.hpp"
#include "runtime/descriptors/fd.hpp"
#include "support/catch.hpp"

using weft::unique_fd;
using weft::runtime::close_on_fork;

namespace {

struct ends {
  ends() {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    near = unique_fd(fds[0]);
    far = unique_fd(fds[1]);
  }
  unique_fd near, far;
};

bool has_ended(const unique_fd& fd) {
  pollfd end{fd.get(), POLLIN, 0};
  char c = 0;
  return ::poll(&end, 1, 0) == 1 && ::recv(fd.get(), &c, 1, MSG_DONTWAIT) == 0;
}

bool is_socket(int fd) {
  struct stat what {};
  return ::fstat(fd, &what) == 0 && S_ISSOCK(what.st_mode);
}

/// A child that lives until this object is destroyed.
class child {
 public:
  /// \param looks runs first in the child; `saw` tells its result
  explicit child(const std::function<bool()>& looks) {
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ != 0) return;
    const char seen = looks() ? 'y' : 'n';
    if (::write(line.near.get(), &seen, 1) != 1) ::_exit(1);
    line.far = {};
    char c = 0;
    ::_exit(::read(line.near.get(), &c, 1) == 0 ? 0 : 1);
  }
  ~child() {
    line.near = {};
    line.far = {};
    ::waitpid(pid_, nullptr, 0);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  bool saw() {
    char c = 0;
    return ::read(line.far.get(), &c, 1) == 1 && c == 'y';
  }

 private:
  ends line;
  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("close on fork: a child does not keep what is its parent's alone") {
  ends alone, common;
  close_on_fork mark(alone.near.get());
  const int number = alone.near.get();
  child c([&] {
    // The number is still in use: the descriptor that the child opens is not one of the parent's.
    const unique_fd next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return !is_socket(number) && next.get() != number && is_socket(common.near.get());
  });
  CHECK(c.saw());
  // No socket was shut down.
  CHECK(::send(alone.near.get(), "x", 1, MSG_NOSIGNAL) == 1);
  char got = 0;
  CHECK(::read(alone.far.get(), &got, 1) == 1);
  CHECK_FALSE(has_ended(alone.far));

  mark.drop();
  alone.near = {};
  common.near = {};
  CHECK(has_ended(alone.far));
  CHECK_FALSE(has_ended(common.far));
}

TEST_CASE("close on fork: what is no more, or another's by now, is left alone") {
  ends a, b, c;
  auto first = std::make_unique<close_on_fork>(a.near.get());
  auto second = std::make_unique<close_on_fork>(b.near.get());
  auto third = std::make_unique<close_on_fork>(c.near.get());
  SECTION("in the middle") {
    second.reset();
    CHECK(child([&] {
            return !is_socket(a.near.get()) && is_socket(b.near.get()) && !is_socket(c.near.get());
          }).saw());
  }
  SECTION("at the ends") {
    first.reset();
    third.reset();
    CHECK(child([&] {
            return is_socket(a.near.get()) && !is_socket(b.near.get()) && is_socket(c.near.get());
          }).saw());
  }
  SECTION("another one") {
    first->watch(a.far.get());
    CHECK(child([&] { return is_socket(a.near.get()) && !is_socket(a.far.get()); }).saw());
  }
}
