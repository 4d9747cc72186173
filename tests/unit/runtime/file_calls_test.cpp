// SPDX-License-Identifier: Apache-2.0
// The two ways to make calls on files: what ends a job, and when its memory is free.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/files/file_calls.hpp"
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"
#include "support/seccomp.hpp"
#include "support/skip.hpp"

using namespace weft;
using namespace weft::runtime;

namespace {

using detail::file_job;

/// A read or write at the position of a descriptor.
class byte_job final : public file_job {
 public:
  byte_job(call c, int f, char* where, std::size_t bytes) noexcept : file_job(&note_end) {
    what = c;
    fd = f;
    memory = where;
    size = bytes;
    offset = at_position;
  }
  std::atomic<bool> ended{false};

 private:
  static void note_end(operation& op) noexcept { static_cast<byte_job&>(op).ended = true; }
};

struct byte_pipe {
  byte_pipe() {
    std::array<int, 2> fds{};
    REQUIRE(::pipe2(fds.data(), O_CLOEXEC) == 0);
    in = unique_fd(fds[0]);
    out = unique_fd(fds[1]);
  }
  unique_fd in, out;
};

/// Whether an engine with the wait set "uring" can be made; its files are on a ring, too.
bool has_ring() {
  const wait_set_choice choice = make_wait_set("auto");
  if (!choice.reason.empty()) weft::tests::skip(choice.reason);
  return choice.reason.empty();
}

std::string each_kind() {
  return has_ring() ? GENERATE(as<std::string>{}, "uring", "epoll") : "epoll";
}

/// \return the status of a child that calls `f`
int file_child(const std::function<int()>& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(f());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

/// Reads a byte of a pipe that is written later. \return whether it came
bool reads_one(engine& e) {
  byte_pipe pipe;
  char got = 0;
  byte_job job(file_job::call::read, pipe.in.get(), &got, 1);
  if (e.files().start(job)) return false;  // there is nothing to read
  std::thread later([&] { static_cast<void>(!::write(pipe.out.get(), "x", 1)); });
  e.run_until_done(job.ended);
  later.join();
  return job.status == errc::ok && job.result == 1 && got == 'x';
}

}  // namespace

TEST_CASE("file calls: a job ends when its call has returned") {
  const std::string kind = each_kind();
  engine e(GENERATE(progress_mode::dedicated, progress_mode::polling), {}, kind);
  e.start();
  CHECK(e.files().describe().empty());
  for (int i = 0; i != 20; ++i) CHECK(reads_one(e));
  CHECK_THAT(e.files().describe(),
             weft::tests::contains(kind == "uring" ? "files by io_uring" : "files by threads"));
}

TEST_CASE("file calls: a failed call ends with its errno, or with a value where that is wanted") {
  engine e(progress_mode::polling, {}, each_kind());
  for (const bool tolerant : {false, true}) {
    char one = 0;
    byte_job job(file_job::call::read, -1, &one, 1);
    job.tolerates_failure = tolerant;
    if (!e.files().start(job)) e.run_until_done(job.ended);
    CHECK(job.status == (tolerant ? errc::ok : errc::system));
    CHECK(job.result == -EBADF);
  }
}

TEST_CASE("file calls: a ring takes back what waits for data, and none is lost") {
  if (!has_ring()) return;
  engine e(progress_mode::polling, {}, "uring");
  byte_pipe pipe;
  char got = 0;
  byte_job job(file_job::call::read, pipe.in.get(), &got, 1);
  REQUIRE_FALSE(e.files().start(job));
  e.files().cancel(job);
  e.run_until_done(job.ended);
  CHECK(job.status == errc::stopped);
  REQUIRE(::write(pipe.out.get(), "y", 1) == 1);
  CHECK(::read(pipe.in.get(), &got, 1) == 1);
  CHECK(got == 'y');
}

TEST_CASE(
    "file calls: threads end a started call by its result, and drop one that waits its turn") {
  engine e(progress_mode::polling, {}, "epoll");
  byte_pipe pipe;
  std::array<char, 5> got{};
  std::vector<std::unique_ptr<byte_job>> jobs;
  for (char& c : got)  // one more than there are threads
    jobs.push_back(std::make_unique<byte_job>(file_job::call::read, pipe.in.get(), &c, 1));
  for (const auto& j : jobs) REQUIRE_FALSE(e.files().start(*j));
  e.files().cancel(*jobs.back());
  e.run_until_done(jobs.back()->ended);
  CHECK(jobs.back()->status == errc::stopped);
  // The first may have begun or not. Either way its end is the end of the use of its memory.
  e.files().cancel(*jobs.front());
  REQUIRE(::write(pipe.out.get(), "zzzz", 4) == 4);
  jobs.pop_back();
  std::size_t read = 0;
  for (const auto& j : jobs) {
    e.run_until_done(j->ended);
    CHECK((j->status == errc::ok || j == jobs.front()));
    read += j->status == errc::ok ? 1U : 0U;
  }
  CHECK(std::count(got.begin(), got.end(), 'z') == static_cast<std::ptrdiff_t>(read));
}

TEST_CASE("file calls: a job outlives the thread that started it") {
  if (!has_ring()) return;
  engine e(progress_mode::dedicated, {}, "uring");
  e.start();
  byte_pipe pipe;
  char got = 0;
  byte_job job(file_job::call::read, pipe.in.get(), &got, 1);
  std::thread([&] { e.files().start(job); }).join();
  std::thread later([&] { static_cast<void>(!::write(pipe.out.get(), "x", 1)); });
  e.run_until_done(job.ended);
  later.join();
  CHECK(job.status == errc::ok);
  CHECK(got == 'x');
}

TEST_CASE("file calls: the end ends every job and later ones at once") {
  ::signal(SIGPIPE, SIG_IGN);
  if (!has_ring()) return;
  engine e(progress_mode::polling, {}, "uring");
  byte_pipe pipe;
  char got = 0;
  byte_job job(file_job::call::read, pipe.in.get(), &got, 1);
  REQUIRE_FALSE(e.files().start(job));
  e.files().close();
  e.run_until_done(job.ended);
  CHECK(job.status == errc::closed);
  byte_job late(file_job::call::read, pipe.in.get(), &got, 1);
  CHECK(e.files().start(late));
  CHECK(late.status == errc::closed);
  byte_job closing(file_job::call::close, pipe.in.release(), nullptr, 0);
  CHECK(e.files().start(closing));
  CHECK(closing.status == errc::ok);
  CHECK(::write(pipe.out.get(), "x", 1) == -1);  // it was closed nevertheless
}

TEST_CASE("file calls: threads take over when a ring is refused later on") {
  const int status = file_child([] {
    if (!has_ring()) return 77;
    engine e(progress_mode::polling, {}, "uring");
    if (!reads_one(e)) return 1;
    const weft::tests::refusal no[] = {{SYS_io_uring_enter, EPERM}};
    if (!weft::tests::refuse(no)) return 77;
    return reads_one(e) ? 0 : 2;
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    return weft::tests::skip("no io_uring, or no seccomp filter");
  CHECK(status == 0);
}

TEST_CASE(
    "file calls: where io_uring is refused, threads make the calls, and the reason is given") {
  const int status = file_child([] {
    const weft::tests::refusal no[] = {{SYS_io_uring_setup, EPERM}};
    if (!weft::tests::refuse(no)) return 77;
    engine e(progress_mode::polling, {}, "auto");
    if (!reads_one(e)) return 1;
    const std::string said = e.files().describe();
    return said.find("files by threads (io_uring_setup: ") != std::string::npos ? 0 : 2;
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return weft::tests::skip("no seccomp filter");
  CHECK(status == 0);
}
