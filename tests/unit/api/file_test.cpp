// SPDX-License-Identifier: Apache-2.0
// Files by io_uring and by threads.
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "io_ways.hpp"

using namespace weft;
using namespace weft::tests;
using weft::tests::contains;

namespace {

using bytes = std::vector<std::byte>;

/// A folder that is removed at the end.
struct folder {
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-file-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    path = name;
  }
  ~folder() { std::filesystem::remove_all(path); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  std::string at(const char* name) const { return (path / name).string(); }
  std::filesystem::path path;
};

bytes some_bytes(std::size_t n) {
  bytes all(n);
  for (std::size_t i = 0; i != n; ++i) all[i] = static_cast<std::byte>(i * 31 + i / 256);
  return all;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const_buffer as_data(const std::string& text) { return std::as_bytes(std::span(text)); }

task<void> use_all(context& ctx, std::string path) {
  file f = co_await file::open(ctx, path, O_RDWR | O_CREAT | O_EXCL);
  CHECK(f);
  CHECK(f.path() == path);
  CHECK((::fcntl(f.descriptor(), F_GETFL) & O_NONBLOCK) == 0);
  const bytes data = some_bytes(100'000);
  co_await f.write_exactly(10, data);
  const std::uint64_t size = co_await f.size();
  CHECK(size == 100'010);
  bytes back(100'000);
  co_await f.read_exactly(10, back);
  CHECK(back == data);
  const std::size_t rest = co_await f.read_at(100'000, back);
  CHECK(rest == 10);
  const std::size_t beyond = co_await f.read_at(200'000, back);
  CHECK(beyond == 0);
  co_await f.sync();
  co_await f.resize(5);
  const std::uint64_t less = co_await f.size();
  CHECK(less == 5);
  co_await f.close();
  CHECK_FALSE(f);
}

task<file> open_to_write(context& ctx, std::string path) {
  return file::open(ctx, std::move(path), O_WRONLY | O_CREAT);
}

/// Writes a block for each number, all at once, and reads them back in the same way.
task<void> use_at_once(context& ctx, std::string path, std::size_t count) {
  constexpr std::size_t block = 512;
  file f = co_await file::open(ctx, path, O_RDWR | O_CREAT);
  const bytes out = some_bytes(count * block);
  bytes in(out.size());
  std::size_t written = 0, got = 0;
  scope writes(co_await current_environment());
  for (std::size_t i = 0; i != count; ++i)
    writes.start(f.write_at(i * block, const_buffer(out).subspan(i * block, block)),
                 [&written](std::size_t n) { written += n; });
  co_await writes.join();
  CHECK(written == out.size());
  scope reads(co_await current_environment());
  for (std::size_t i = 0; i != count; ++i)
    reads.start(f.read_at(i * block, mutable_buffer(in).subspan(i * block, block)),
                [&got](std::size_t n) { got += n; });
  co_await reads.join();
  CHECK(got == in.size());
  CHECK(in == out);
}

task<void> read_on_pool(context& ctx, pool& workers, std::string path, std::atomic<bool>& done) {
  co_await resume_on(workers);
  const bytes all = co_await read_file(ctx, std::move(path));
  done = all.size() == 3;
}

}  // namespace

TEST_CASE_METHOD(each_way, "a file is written, read, cut off and closed") {
  const folder here;
  run(ctx, use_all(ctx, here.at("data")));
  CHECK(contents(here.at("data")) == std::string(5, '\0'));
}

TEST_CASE_METHOD(each_way, "a thousand reads and writes of a file at once") {
  const folder here;
  run(ctx, use_at_once(ctx, here.at("data"), 1000));
}

TEST_CASE_METHOD(each_set, "a whole file is written and read") {
  context ctx(waiting(progress_mode::dedicated, set));
  const folder here;
  const std::string path = here.at("data");
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 3'000'000U}) {
    const bytes data = some_bytes(size);
    run(ctx, write_file(ctx, path, data));
    CHECK(contents(path).size() == size);
    CHECK(run(ctx, read_file(ctx, path)) == data);
  }
  // Its size is said to be 0.
  CHECK(run(ctx, read_file<std::string>(ctx, "/proc/self/status")).size() > 100);
}

TEST_CASE_METHOD(each_set, "elements of a type go into a file and come back") {
  context ctx(waiting(progress_mode::dedicated, set));
  const folder here;
  file f = run(ctx, file::open(ctx, here.at("data"), O_RDWR | O_CREAT));
  const std::vector<std::uint64_t> numbers{1, 2, std::uint64_t{3} << 40};
  run(ctx, f.write_exactly(8, numbers));
  CHECK(sync_wait(ctx, f.size()) == 32);
  std::vector<std::uint64_t> back(3);
  run(ctx, f.read_exactly(8, back));
  CHECK(back == numbers);
  const std::string words = "warp and weft";
  run(ctx, f.write_exactly(0, std::string_view(words)));
  std::string heard(words.size(), ' ');
  run(ctx, f.read_exactly(0, heard));
  CHECK(heard == words);
  struct {
    char letters[2];
  } end;
  CHECK(sync_wait(ctx, f.read_at(30, end)) == 2);
  CHECK(sync_wait(ctx, f.write_at(30, end)) == 2);
  std::vector<std::uint64_t> five(5);
  CHECK_THAT(failure_of(ctx, errc::truncated, f.read_exactly(0, five)),
             contains("has only 32 of 40 bytes at 0"));
}

TEST_CASE("a whole file has elements of a type, or is refused") {
  context ctx;
  const folder here;
  const std::vector<std::uint32_t> numbers(2000, 7);
  run(ctx, write_file(ctx, here.at("data"), numbers));
  CHECK(run(ctx, read_file<std::vector<std::uint32_t>>(ctx, here.at("data"))) == numbers);
  run(ctx, write_file(ctx, here.at("data"), std::string("thirteen byte")));
  CHECK(run(ctx, read_file<std::string>(ctx, here.at("data"))) == "thirteen byte");
  CHECK_THAT(
      failure_of(ctx, errc::truncated, read_file<std::vector<std::uint32_t>>(ctx, here.at("data"))),
      contains("has 13 bytes, no whole number of elements of 4"));
}

TEST_CASE("a group opens a file, or learns why rank 0 cannot") {
  context ctx;
  const folder here;
  run(ctx, write_file(ctx, here.at("data"), std::string("old")));
  file f = run(ctx, file::open(ctx.world(), here.at("data"), O_RDWR | O_CREAT | O_TRUNC));
  CHECK(sync_wait(ctx, f.size()) == 0);
  CHECK_THAT(failure_of(ctx, errc::system, file::open(ctx.world(), here.at("no/data"), O_RDONLY)),
             contains("cannot open") && contains("No such file"));
}

TEST_CASE_METHOD(each_set, "a file that ends too early") {
  context ctx(waiting(progress_mode::dedicated, set));
  const folder here;
  run(ctx, write_file(ctx, here.at("data"), std::string_view("abc")));
  file f = run(ctx, file::open(ctx, here.at("data"), O_RDONLY));
  bytes four(4);
  CHECK_THAT(failure_of(ctx, errc::truncated, f.read_exactly(0, four)),
             contains("has only 3 of 4 bytes at 0") && contains(here.at("data")));
}

TEST_CASE_METHOD(each_set, "failures name the path, the reason and the cure") {
  context ctx(waiting(progress_mode::dedicated, set));
  const folder here;
  const std::string none = here.at("none/data");
  CHECK_THAT(
      failure_of(ctx, errc::system, file::open(ctx, none, O_RDONLY)),
      contains("cannot open " + none) && contains("No such file") && contains("check the path"));
  CHECK_THAT(failure_of(ctx, errc::system, open_to_write(ctx, here.path)),
             contains("Is a directory") && contains("name a file"));
  bytes memory(100);
  file full = run(ctx, open_to_write(ctx, "/dev/full"));
  CHECK_THAT(failure_of(ctx, errc::system, full.write_at(0, memory)),
             contains("cannot write 100 bytes at 0 of /dev/full: No space left") &&
                 contains("free some space"));
  CHECK_THAT(failure_of(ctx, errc::system, full.read_at(0, memory)),
             contains("Bad file descriptor") && contains("O_RDONLY"));
  REQUIRE(::mkfifo(here.at("fifo").c_str(), 0600) == 0);
  CHECK_THAT(failure_of(ctx, errc::system, file::open(ctx, here.at("fifo"), O_WRONLY)),
             contains("needs a reader first"));
  file fifo = run(ctx, file::open(ctx, here.at("fifo"), O_RDONLY));
  CHECK_THAT(failure_of(ctx, errc::system, fifo.read_at(0, memory)), contains("have no offsets"));
}

TEST_CASE_METHOD(each_set, "a file that is none, and an offset that cannot be") {
  context ctx(waiting(progress_mode::dedicated, set));
  file none;
  bytes memory(1);
  const auto said = contains("names no open file");
  CHECK_THAT(failure_of(ctx, errc::invalid_argument, none.read_at(0, memory)), said);
  CHECK_THAT(failure_of(ctx, errc::invalid_argument, none.sync()), said);
  CHECK_THAT(failure_of(ctx, errc::invalid_argument, none.close()), said);
  file zero = run(ctx, file::open(ctx, "/dev/zero", O_RDONLY));
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  CHECK_THAT(failure_of(ctx, errc::invalid_argument, zero.read_at(last, memory)),
             contains("out of range"));
}

TEST_CASE_METHOD(each_set,
                 "an operation on a file that was stopped before it began does not begin") {
  context ctx(waiting(progress_mode::dedicated, set));
  const folder here;
  std::stop_source stop;
  stop.request_stop();
  file f = run(ctx, open_to_write(ctx, here.at("data")));
  failure_of(ctx, errc::stopped, stoppable(stop.get_token(), f.write_at(0, as_data("abc"))));
  CHECK(contents(here.at("data")).empty());
  failure_of(ctx, errc::stopped,
             stoppable(stop.get_token(), file::open(ctx, here.at("new"), O_WRONLY | O_CREAT)));
  CHECK_FALSE(std::filesystem::exists(here.at("new")));
  sync_wait(ctx, stoppable(stop.get_token(), f.close()));  // this cannot be stopped
}

TEST_CASE_METHOD(each_set,
                 "a file is read by a coroutine on a pool while no thread is inside run") {
  pool workers(1);
  context ctx(waiting(progress_mode::dedicated, set));
  const folder here;
  run(ctx, write_file(ctx, here.at("data"), as_data("abc")));
  std::atomic<bool> done = false;
  std::atomic<bool> failed = false;
  spawn(ctx, read_on_pool(ctx, workers, here.at("data"), done),
        [&](std::exception_ptr) { failed = true; });
  sync_wait(ctx, sleep_for(std::chrono::milliseconds(1)));  // it begins on this thread
  while (!done && !failed) std::this_thread::yield();
  CHECK_FALSE(failed);
}
