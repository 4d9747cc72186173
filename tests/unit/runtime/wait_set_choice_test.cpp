// SPDX-License-Identifier: Apache-2.0
// Which wait set is chosen, and what happens where the kernel or a container forbids one.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "support/descriptors.hpp"
#include "support/seccomp.hpp"
#include "support/skip.hpp"
#include "wait_set_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using namespace weft::runtime;
using namespace weft::runtime::test;
using std::chrono::steady_clock;

/// Makes one system call of this process fail from now on.
bool forbid(std::uint32_t call, std::uint32_t code) {
  const weft::tests::refusal one[] = {{call, code}};
  return weft::tests::refuse(one);
}

/// Runs f in a child; its exit code, or -1 if it crashed.
template <class F>
int in_a_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool works(wait_set& set) {
  counter w;
  set.add(w.bell.fd(), EPOLLIN, w);
  const auto deadline = steady_clock::now() + 1ms;
  if (set.wait(deadline) != 0 || steady_clock::now() < deadline) return false;
  w.bell.ring();
  return set.wait(steady_clock::now() + 1h) == 1;
}

}  // namespace

TEST_CASE("an unknown wait set is named in the error", "[wait_set]") {
  try {
    make_wait_set("kqueue");
    FAIL("no error");
  } catch (const weft::error& e) {
    CHECK(e.kind() == weft::errc::invalid_argument);
    CHECK_THAT(e.what(), weft::tests::contains("kqueue"));
  }
}

TEST_CASE("where io_uring is forbidden, auto takes epoll and says why", "[wait_set]") {
  if (!weft::tests::can_refuse()) return weft::tests::skip("no seccomp filter");
  const std::uint32_t call = GENERATE(as<std::uint32_t>(), SYS_io_uring_setup, SYS_io_uring_enter);
  const std::uint32_t code = GENERATE(as<std::uint32_t>(), EPERM, ENOSYS, ENOMEM);
  CAPTURE(call, code);
  CHECK(in_a_child([&] {
          if (!forbid(call, code)) return 2;
          const std::size_t before = weft::tests::open_descriptors();
          try {
            make_wait_set("uring");
            return 3;
          } catch (const weft::error& e) {
            if (e.kind() != weft::errc::unsupported) return 4;
          }
          if (weft::tests::open_descriptors() != before) return 5;
          const auto choice = make_wait_set("auto");
          if (choice.set->name() != std::string("epoll")) return 6;
          if (choice.reason.empty()) return 7;
          return works(*choice.set) ? 0 : 8;
        }) == 0);
}

TEST_CASE("epoll keeps its deadlines where epoll_pwait2 is unknown", "[wait_set]") {
  if (!weft::tests::can_refuse()) return weft::tests::skip("no seccomp filter");
  const std::uint32_t code = GENERATE(as<std::uint32_t>(), EPERM, ENOSYS);
  CHECK(in_a_child([&] {
          if (!forbid(SYS_epoll_pwait2, code)) return 2;
          return works(*make_wait_set("epoll").set) ? 0 : 3;
        }) == 0);
}

// A former defect: removing a descriptor never ended, and waiting used all of a core.
TEST_CASE("a ring that is refused in mid-life: epoll takes over, and no file stays open",
          "[wait_set]") {
  if (!have_uring()) return;
  const std::uint32_t code = GENERATE(as<std::uint32_t>(), EPERM, ENOSYS, EACCES);
  CHECK(in_a_child([&] {
          const auto set = make_wait_set("uring").set;
          counter stays, goes;
          int ends[2];
          if (::pipe(ends) != 0) return 2;
          counter at_pipe;
          set->add(stays.bell.fd(), EPOLLIN, stays);
          set->add(goes.bell.fd(), EPOLLIN, goes);
          set->add(ends[1], EPOLLERR, at_pipe);
          set->poll();
          if (!forbid(SYS_io_uring_enter, code)) return 3;
          set->remove(goes.bell.fd());
          set->remove(ends[1]);
          goes.bell.ring();
          if (set->wait(steady_clock::now() + 1ms) != 0) return 4;
          stays.bell.ring();
          if (set->wait(never) != 1 || stays.told != 1 || goes.told != 0) return 5;
          set->wake();
          if (set->wait(never) != 0) return 6;
          // Only this process has the writing end.
          ::close(ends[1]);
          char one = 0;
          if (::read(ends[0], &one, 1) != 0) return 7;
          return works(*set) ? 0 : 8;
        }) == 0);
}

TEST_CASE("auto gives what works here", "[wait_set]") {
  const auto choice = make_wait_set("auto");
  CHECK((choice.set->name() == std::string("uring")) == choice.reason.empty());
  CHECK(works(*choice.set));
}
