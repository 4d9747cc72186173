// SPDX-License-Identifier: Apache-2.0
// Waits for descriptors of all kinds on the loop of a context.
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>

#include "io_ways.hpp"

using namespace weft;
using namespace weft::tests;
using namespace std::chrono_literals;
using weft::tests::contains;

namespace {

task<void> note_readable(context& ctx, int fd, bool& seen, const bool& expected) {
  co_await readable(ctx, fd);
  seen = expected;
}

task<void> write_later(int fd, bool& written) {
  co_await sleep_for(1ms);  // the other task waits by then, or finds the data: both are right
  written = true;
  put(fd, "x");
}

task<void> drain_later(int fd, std::size_t bytes, bool& drained) {
  co_await sleep_for(1ms);
  drained = true;
  std::vector<std::byte> memory(bytes);
  REQUIRE(::read(fd, memory.data(), memory.size()) > 0);
}

task<void> note_writable(context& ctx, int fd, bool& seen, const bool& expected) {
  co_await writable(ctx, fd);
  seen = expected;
}

task<void> stop_later(std::stop_source& stop) {
  co_await sleep_for(1ms);
  stop.request_stop();
}

task<errc> code_of_stopped(std::stop_token stop, ready_request wait) {
  const result<void> r = co_await as_result(stoppable(std::move(stop), wait));
  co_return r.code();
}

task<errc> code_of(ready_request wait) {
  const result<void> r = co_await as_result(wait);
  co_return r.code();
}

/// Stops a wait that would not end otherwise. \return how it ended
errc stop_one(context& ctx, ready_request wait, std::stop_source stop = {}) {
  return std::get<0>(
      sync_wait(ctx, when_all(code_of_stopped(stop.get_token(), wait), stop_later(stop))));
}

task<void> stop_after_two_readers(context& ctx, int fd, std::stop_source& stop) {
  co_await when_all(readable(ctx, fd), readable(ctx, fd));
  stop.request_stop();
}

/// Closes `lost`, on which another task waits, and waits for another file by the same number.
task<void> use_number_again(context& ctx, ends& lost, std::stop_source& stop) {
  co_await sleep_for(1ms);
  const ends fresh = make_pipe();
  const int number = lost.in.get();
  lost.in = {};
  const unique_fd again(::fcntl(fresh.in.get(), F_DUPFD_CLOEXEC, number));
  REQUIRE(again.get() == number);
  bool written = false, seen = false;
  co_await when_all(note_readable(ctx, number, seen, written),
                    write_later(fresh.out.get(), written));
  CHECK(seen);
  stop.request_stop();
}

task<void> wait_for_all(context& ctx, const std::vector<unique_fd>& bells,
                        const std::vector<std::size_t>& order, std::size_t count,
                        std::size_t& ended) {
  scope fly(co_await current_environment());
  for (std::size_t i = 0; i != count; ++i)
    fly.start(readable(ctx, bells[i % bells.size()].get()), [&ended] { ++ended; });
  co_await sleep_for(1ms);
  CHECK(ended == 0);
  for (const std::size_t i : order) ::eventfd_write(bells[i].get(), 1);
  co_await fly.join();
}

task<void> wait_on_pool(context& ctx, pool& workers, int fd, std::atomic<bool>& done) {
  co_await resume_on(workers);
  co_await readable(ctx, fd);
  done = true;
}

task<void> note_code(context& ctx, int fd, errc& how) { how = co_await code_of(readable(ctx, fd)); }

bool has_ended(int fd) {
  std::byte one{};
  return ::read(fd, &one, 1) == 0;
}

}  // namespace

TEST_CASE_METHOD(each_way, "readable ends when there is data, and not before") {
  const auto [in, out] = GENERATE(0, 1) == 0 ? make_pipe() : make_sockets();
  bool written = false, seen = false;
  sync_wait(ctx,
            when_all(note_readable(ctx, in.get(), seen, written), write_later(out.get(), written)));
  CHECK(seen);
  sync_wait(ctx, readable(ctx, in.get()));  // still: no byte was read
}

TEST_CASE_METHOD(each_way, "writable ends when there is room, and not before") {
  const ends pipe = make_pipe(O_CLOEXEC | O_NONBLOCK);
  const std::size_t all = fill(pipe.out.get());
  bool drained = false, seen = false;
  sync_wait(ctx, when_all(note_writable(ctx, pipe.out.get(), seen, drained),
                          drain_later(pipe.in.get(), all, drained)));
  CHECK(seen);
}

TEST_CASE_METHOD(each_way, "a thread without weft makes a descriptor readable") {
  const unique_fd bell(::eventfd(0, EFD_CLOEXEC));
  for (int i = 0; i != 20; ++i) {
    std::thread other([&] { ::eventfd_write(bell.get(), 1); });
    sync_wait(ctx, readable(ctx, bell.get()));
    other.join();
    eventfd_t count = 0;
    CHECK(::eventfd_read(bell.get(), &count) == 0);
  }
}

TEST_CASE_METHOD(each_way, "a hang-up counts as ready") {
  ends pipe = make_pipe();
  std::thread other([&] { const unique_fd gone = std::move(pipe.out); });
  sync_wait(ctx, readable(ctx, pipe.in.get()));
  other.join();
  CHECK(has_ended(pipe.in.get()));

  ends full = make_pipe(O_CLOEXEC | O_NONBLOCK);
  fill(full.out.get());
  std::thread reader([&] { const unique_fd gone = std::move(full.in); });
  sync_wait(ctx, writable(ctx, full.out.get()));
  reader.join();
}

TEST_CASE_METHOD(each_set, "what epoll refuses is always ready") {
  context ctx(waiting(progress_mode::dedicated, set));
  const unique_fd regular(::memfd_create("weft-ready", MFD_CLOEXEC));
  const unique_fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {regular.get(), null.get()}) {
    sync_wait(ctx, readable(ctx, fd));
    sync_wait(ctx, writable(ctx, fd));
  }
}

TEST_CASE_METHOD(each_set, "a descriptor that is not open is said to be so") {
  context ctx(waiting(progress_mode::dedicated, set));
  int closed = -1;
  {
    // A number that threads of the context do not get meanwhile.
    const ends pipe = make_pipe();
    const unique_fd high(::fcntl(pipe.in.get(), F_DUPFD_CLOEXEC, 900));
    closed = high.get();
    REQUIRE(closed >= 900);
  }
  for (const auto wait : {readable(ctx, closed), writable(ctx, closed)})
    CHECK_THAT(failure_of(ctx, errc::system, wait),
               contains("no open descriptor") && contains("Bad file descriptor"));
}

TEST_CASE_METHOD(each_way, "a wait is stopped, and then the file is the caller's alone") {
  ends pipe = make_pipe(O_CLOEXEC | O_NONBLOCK);
  fill(pipe.out.get());
  const ends silent = make_pipe();
  CHECK(stop_one(ctx, readable(ctx, silent.in.get())) == errc::stopped);
  CHECK(stop_one(ctx, writable(ctx, pipe.out.get())) == errc::stopped);
  pipe.out = {};
  std::vector<std::byte> rest(std::size_t{1} << 20);
  while (::read(pipe.in.get(), rest.data(), rest.size()) > 0) continue;
  CHECK(has_ended(pipe.in.get()));  // no other process or ring holds its other end
}

TEST_CASE_METHOD(each_way, "a wait that was stopped before it began does not begin") {
  const ends pipe = make_pipe();
  put(pipe.out.get(), "x");
  std::stop_source stop;
  stop.request_stop();
  CHECK(run(ctx, code_of_stopped(stop.get_token(), readable(ctx, pipe.in.get()))) == errc::stopped);
}

TEST_CASE_METHOD(each_way, "a wait has a deadline") {
  const ends pipe = make_pipe();
  failure_of(ctx, errc::timed_out, within(1ms, readable(ctx, pipe.in.get())));
  put(pipe.out.get(), "x");
  sync_wait(ctx, within(1h, readable(ctx, pipe.in.get())));
}

TEST_CASE_METHOD(each_way, "waits for both directions of one socket end each for itself") {
  const ends pair = make_sockets();
  const int fd = pair.in.get();
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  fill(fd);
  bool written = false;
  std::stop_source stop;
  const auto all = sync_wait(
      ctx, when_all(code_of_stopped(stop.get_token(), writable(ctx, fd)),
                    stop_after_two_readers(ctx, fd, stop), write_later(pair.out.get(), written)));
  CHECK(std::get<0>(all) == errc::stopped);
}

TEST_CASE_METHOD(each_way, "a descriptor that is closed during a wait leaves its number usable") {
  ends lost = make_pipe();
  std::stop_source stop;
  sync_wait(ctx, when_all(code_of_stopped(stop.get_token(), readable(ctx, lost.in.get())),
                          use_number_again(ctx, lost, stop)));
}

TEST_CASE_METHOD(each_way, "a thousand waits at once: a descriptor each, and all for one") {
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
  constexpr std::size_t count = 1000;
  std::vector<unique_fd> bells;
  const bool shared = GENERATE(false, true);
  for (std::size_t i = 0; i != (shared ? 1 : count); ++i)
    bells.emplace_back(::eventfd(0, EFD_CLOEXEC));
  std::vector<std::size_t> order(bells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  std::size_t ended = 0;
  run(ctx, wait_for_all(ctx, bells, order, count, ended));
  CHECK(ended == count);
}

TEST_CASE_METHOD(each_set, "a wait on a pool ends while no thread is inside run") {
  pool workers(1);  // outlives the thread that posts to it
  context ctx(waiting(progress_mode::dedicated, set));
  const ends pipe = make_pipe();
  std::atomic<bool> done = false;
  spawn(ctx, wait_on_pool(ctx, workers, pipe.in.get(), done));
  sync_wait(ctx, sleep_for(1ms));  // the task begins on this thread
  put(pipe.out.get(), "x");
  while (!done) std::this_thread::yield();
}

TEST_CASE_METHOD(each_set, "the end of a context ends its waits") {
  const ends pipe = make_pipe();
  errc how = errc::ok;
  {
    context ctx(waiting(GENERATE(progress_mode::dedicated, progress_mode::polling), set));
    spawn(ctx, note_code(ctx, pipe.in.get(), how));
    sync_wait(ctx, sleep_for(1ms));
  }
  CHECK(how == errc::closed);
}
