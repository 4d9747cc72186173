// SPDX-License-Identifier: Apache-2.0
// Reads and writes of descriptors of any kind at their own position.
#include <pty.h>
#include <sys/mman.h>
#include <termios.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "io_ways.hpp"

using namespace weft;
using namespace weft::tests;
using namespace std::chrono_literals;
using weft::tests::contains;

namespace {

std::string some_text(std::size_t n) {
  std::string all(n, '\0');
  for (std::size_t i = 0; i != n; ++i) all[i] = static_cast<char>('a' + i % 23);
  return all;
}

task<std::string> read_to_end(context& ctx, int fd) {
  std::string all;
  std::string piece(100'000, '\0');
  for (;;) {
    const std::size_t n = co_await read_some(ctx, fd, piece);
    if (n == 0) break;
    all.append(piece, 0, n);
  }
  co_return all;
}

task<void> write_and_close(context& ctx, unique_fd& to, const std::string& text) {
  co_await write_all(ctx, to.get(), text);
  to = {};
}

/// What `to` gets, `from` yields; flags stay as they are.
void pass_through(context& ctx, ends pair, std::size_t size) {
  const std::string text = some_text(size);
  const int before = ::fcntl(pair.in.get(), F_GETFL), before_out = ::fcntl(pair.out.get(), F_GETFL);
  const int kept = ::fcntl(pair.out.get(), F_DUPFD_CLOEXEC, 0);
  const unique_fd reader(::fcntl(pair.in.get(), F_DUPFD_CLOEXEC, 0));
  CHECK(::fcntl(kept, F_GETFL) == before_out);
  ::close(kept);
  const auto got = sync_wait(
      ctx, when_all(read_to_end(ctx, pair.in.get()), write_and_close(ctx, pair.out, text)));
  CHECK(std::get<0>(got) == text);
  CHECK(::fcntl(reader.get(), F_GETFL) == before);
}

task<std::string> read_once(context& ctx, int fd) {
  std::string piece(100, '\0');
  const std::size_t n = co_await read_some(ctx, fd, piece);
  co_return piece.substr(0, n);
}

task<void> put_later(int fd, std::string text) {
  co_await sleep_for(1ms);
  put(fd, text);
}

/// Writes what a terminal does not take at once, while its other end is read by `read_to_mark`.
task<void> write_text(context& ctx, int fd, const std::string& text) {
  co_await write_all(ctx, fd, text);
}

task<std::string> read_bytes(context& ctx, int fd, std::size_t size) {
  std::string all(size, '\0');
  co_await read_exactly(ctx, fd, all);
  co_return all;
}

struct terminal {
  terminal() {
    int m = -1, s = -1;
    REQUIRE(::openpty(&m, &s, nullptr, nullptr, nullptr) == 0);
    master = unique_fd(m);
    slave = unique_fd(s);
    termios raw{};
    ::tcgetattr(s, &raw);
    ::cfmakeraw(&raw);
    ::tcsetattr(s, TCSANOW, &raw);
  }
  unique_fd master, slave;
};

task<std::vector<std::string>> all_lines(context& ctx, int fd, std::size_t longest) {
  line_reader from(ctx, fd, longest);
  std::vector<std::string> lines;
  for (;;) {
    std::optional<std::string> line = co_await from.next();
    if (!line) break;
    lines.push_back(std::move(*line));
  }
  co_return lines;
}

}  // namespace

TEST_CASE_METHOD(each_way, "bytes pass through a pipe and a socket whose ends block") {
  pass_through(ctx, make_pipe(), 1'000'000);
  pass_through(ctx, make_sockets(), 1'000'000);
}

TEST_CASE_METHOD(each_set, "bytes pass through a pipe whose ends do not block") {
  context ctx(waiting(progress_mode::dedicated, set));
  pass_through(ctx, make_pipe(O_CLOEXEC | O_NONBLOCK), 1'000'000);
}

TEST_CASE_METHOD(each_way, "a terminal is read and written, and keeps its flags") {
  const terminal t;
  const int before = ::fcntl(t.slave.get(), F_GETFL);
  const auto got =
      sync_wait(ctx, when_all(read_once(ctx, t.slave.get()), put_later(t.master.get(), "typed")));
  CHECK(std::get<0>(got) == "typed");
  // More than its buffers hold: the writer waits for the reader.
  const std::string text = some_text(100'000);
  const auto shown = sync_wait(ctx, when_all(read_bytes(ctx, t.master.get(), text.size()),
                                             write_text(ctx, t.slave.get(), text)));
  CHECK(std::get<0>(shown) == text);
  CHECK(::fcntl(t.slave.get(), F_GETFL) == before);
}

TEST_CASE_METHOD(each_set, "a regular file is read and written at its position") {
  context ctx(waiting(progress_mode::dedicated, set));
  const unique_fd regular(::memfd_create("weft-position", MFD_CLOEXEC));
  const std::string text = some_text(300'000);
  run(ctx, write_text(ctx, regular.get(), "first, "));
  run(ctx, write_text(ctx, regular.get(), text));
  REQUIRE(::lseek(regular.get(), 3, SEEK_SET) == 3);
  CHECK(run(ctx, read_to_end(ctx, regular.get())) == "st, " + text);
}

TEST_CASE_METHOD(each_set, "failures of descriptors name the reason and the cure") {
  std::signal(SIGPIPE, SIG_IGN);
  context ctx(waiting(progress_mode::dedicated, set));
  const unique_fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  CHECK_THAT(failure_of(ctx, errc::system, write_text(ctx, full.get(), "x")),
             contains("cannot write to descriptor") && contains("No space left") &&
                 contains("free some space"));
  ends pipe = make_pipe();
  CHECK_THAT(failure_of(ctx, errc::system, read_once(ctx, pipe.out.get())),
             contains("cannot read descriptor") && contains("Bad file descriptor"));
  pipe.in = {};
  CHECK_THAT(failure_of(ctx, errc::system, write_text(ctx, pipe.out.get(), "x")),
             contains("no process reads the other end"));
  const int closed = pipe.out.get();
  pipe.out = {};
  CHECK_THAT(failure_of(ctx, errc::system, read_once(ctx, closed)),
             contains("Bad file descriptor"));
  const ends short_one = make_pipe();
  put(short_one.out.get(), "abc");
  { const unique_fd gone = std::move(const_cast<ends&>(short_one).out); }
  CHECK_THAT(failure_of(ctx, errc::truncated, read_bytes(ctx, short_one.in.get(), 4)),
             contains("ended after 3 of 4 bytes"));
}

TEST_CASE_METHOD(each_way, "a read that is stopped loses no byte, and others go on beside it") {
  const terminal t;
  const ends pipe = make_pipe();
  for (const auto& [in, out] :
       {std::pair(pipe.in.get(), pipe.out.get()), std::pair(t.slave.get(), t.master.get())}) {
    failure_of(ctx, errc::timed_out, within(1ms, read_once(ctx, in)));
    put(out, "later");
    CHECK(run(ctx, read_once(ctx, in)) == "later");
  }
}

TEST_CASE_METHOD(each_set, "lines are read from a pipe") {
  context ctx(waiting(progress_mode::dedicated, set));
  const auto lines_of = [&](const std::string& text, std::size_t longest = 1000) {
    ends pipe = make_pipe();
    put(pipe.out.get(), text);
    pipe.out = {};
    return run(ctx, all_lines(ctx, pipe.in.get(), longest));
  };
  using lines = std::vector<std::string>;
  CHECK(lines_of("") == lines{});
  CHECK(lines_of("one\n\nthree") == lines{"one", "", "three"});
  CHECK(lines_of("one\n") == lines{"one"});
  CHECK(lines_of("12345\n", 5) == lines{"12345"});
  CHECK_THROWS_AS(lines_of("123456\n", 5), error);
}
