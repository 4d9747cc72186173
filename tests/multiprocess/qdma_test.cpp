// SPDX-License-Identifier: Apache-2.0
// The qdma device between processes: they join, leave and are killed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <weft/qdma.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"

namespace {

using namespace weft;
using namespace std::chrono_literals;

/// One side of the tests: a context with a device and a queue for other processes.
struct host {
  host() : ctx(lone()), device(qdma::device::open(ctx)), in(device.open_queue()) {}
  static options lone() {
    options o = options::from_environment();
    o.standalone = true;
    return o;
  }
  template <class T>
  qdma::process hear(T& what) {
    return run(ctx,
               [](qdma::queue& q, mutable_buffer into) -> task<qdma::posted_message> {
                 co_return co_await within(60s, q.receive(into));
               }(in, std::as_writable_bytes(std::span(&what, 1))))
        .from;
  }
  errc end_of(const qdma::event& e) {
    return run(ctx,
               [](const qdma::event& ev) -> task<result<void>> {
                 co_return co_await as_result(within(60s, ev.triggered()));
               }(e))
        .code();
  }
  /// Waits until the device has seen the end of a process.
  void see_end_of(qdma::process who) {
    qdma::event lost = device.make_event();
    lost.depends_on(who);
    CHECK(end_of(lost) == errc::peer_lost);
    CHECK_FALSE(device.knows(who));
  }
  bool is_alone() { return device.describe().find(" 0 met") != std::string::npos; }

  context ctx;
  qdma::device device;
  qdma::queue in;
};

/// A qdma_peer, killed and reaped at the latest by the destructor.
class card_process {
 public:
  card_process(host& h, std::vector<std::string> what) {
    std::string hex;
    for (const std::byte b : h.device.where().bytes) {
      constexpr auto digits = "0123456789abcdef";
      hex += digits[static_cast<unsigned>(b) / 16];
      hex += digits[static_cast<unsigned>(b) % 16];
    }
    std::vector<std::string> args{WEFT_TEST_BIN_DIR "/tests/qdma_peer", hex, what[0],
                                  std::to_string(static_cast<std::uint32_t>(h.device.self())),
                                  std::to_string(h.in.id().number)};
    args.insert(args.end(), what.begin() + 1, what.end());
    std::vector<char*> argv;
    for (std::string& a : args) argv.push_back(a.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::execv(argv[0], argv.data());
      ::_exit(99);
    }
    REQUIRE(pid_ > 0);
  }
  ~card_process() {
    kill();
    wait();
  }
  card_process(const card_process&) = delete;
  card_process& operator=(const card_process&) = delete;
  void kill() const {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }
  int wait() {
    int status = 0;
    if (pid_ > 0) ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
};

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST_CASE("qdma processes: a chain of 1000 descriptors while all applications sleep", "[qdma]") {
  const std::string command = "timeout -s KILL 120 " WEFT_TEST_BIN_DIR
                              "/weft-run -n 4 " WEFT_TEST_BIN_DIR "/tests/qdma_ring";
  CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("qdma processes: one that writes is killed, and its target is used again", "[qdma]") {
  host h;
  constexpr std::size_t size = std::size_t{4} << 20;
  for (int round = 0; round != 5; ++round) {
    qdma::region target = h.device.allocate(size, qdma::rights::write);
    card_process writer(h, {"write", std::to_string(target.id().key), std::to_string(size)});
    unsigned char n = 0;
    const qdma::process who = h.hear(n);
    for (int i = 0; i != 2; ++i) h.hear(n);
    qdma::event lost = h.device.make_event(1000);
    lost.depends_on(who);
    writer.kill();
    CHECK(h.end_of(lost) == errc::peer_lost);
    writer.wait();
    // All that it reported, it had done.
    CHECK_FALSE(h.device.knows(who));
    const auto left_by_it = [&](std::byte b) { return b != std::byte{0}; };
    CHECK(std::ranges::all_of(target.bytes(), left_by_it));
    // The memory belongs to the owner again, and does not change.
    target = h.device.allocate(size, qdma::rights::write);
    std::ranges::fill(target.bytes(), std::byte{7});
    qdma::event own = h.device.make_event();
    const qdma::region source = h.device.allocate(64, qdma::rights::none);
    std::ranges::fill(source.bytes(), std::byte{7});
    h.device.start(qdma::rdma_write(source, 0, target.id(), 0, 64).then(qdma::signal(own.id())));
    CHECK(h.end_of(own) == errc::ok);
    CHECK(std::ranges::count(target.bytes(), std::byte{7}) == size);
    // Messages that it left behind do not reach the next queue.
    qdma::queue fresh = h.device.open_queue();
    std::swap(h.in, fresh);
  }
  CHECK(h.is_alone());
}

TEST_CASE("qdma processes: one that is written to is killed: done, or lost", "[qdma]") {
  host h;
  const qdma::region source = h.device.allocate(std::size_t{8} << 20, qdma::rights::none);
  for (const std::size_t which : {0u, 1u, 0u, 1u}) {
    card_process victim(h, {"offer"});
    std::array<qdma::remote_region, 2> offered{};
    const qdma::process who = h.hear(offered);
    qdma::event done = h.device.make_event();
    qdma::chain many = qdma::rdma_write(source, 0, offered[which], 0, source.bytes().size());
    const qdma::chain one = many;
    for (int i = 0; i != 200; ++i) many = many.then(one);
    h.device.start(many.then(qdma::signal(done.id())));
    victim.kill();
    const errc end = h.end_of(done);
    CAPTURE(which, static_cast<int>(end), h.device.describe());
    // Shared memory can be written until the end of the process is seen.
    CHECK((end == errc::peer_lost || (which == 0 && end == errc::ok)));
    victim.wait();
    qdma::event late = h.device.make_event();
    h.see_end_of(who);
    h.device.start(one.then(qdma::signal(late.id())));
    CHECK(h.end_of(late) == errc::peer_lost);
  }
  CHECK(h.is_alone());
}

TEST_CASE("qdma processes: one whose child keeps its sockets is lost when it dies", "[qdma]") {
  host h;
  card_process parent(h, {"parent"});
  pid_t child = 0;
  const qdma::process who = h.hear(child);
  parent.kill();
  h.see_end_of(who);
  ::kill(child, SIGKILL);
}

/// Each process joins, reports and leaves; every third is killed instead of leaving in good order.
void come_and_go(int how_many) {
  host h;
  std::size_t before = 0;
  for (int i = 0; i != how_many; ++i) {
    card_process guest(h, {i % 3 == 0 ? "offer" : "hello"});
    std::array<qdma::remote_region, 2> what{};
    const qdma::process who = h.hear(what);
    if (i % 3 == 0)
      guest.kill();
    else
      CHECK(guest.wait() == 0);
    h.see_end_of(who);
    if (i == 3) before = descriptors();
  }
  CHECK(h.is_alone());
  // Watched objects are freed when the sleeping thread wakes next; no event tells of that.
  for (int tries = 0; tries != 1000 && descriptors() > before + 2; ++tries)
    run(h.ctx, sleep_for(1ms));
  CHECK(descriptors() <= before + 2);
}

TEST_CASE("qdma processes: 300 join and leave, or are killed, and nothing is left", "[qdma]") {
  come_and_go(300);
}

TEST_CASE("qdma processes: ten thousand join and leave, or are killed", "[qdma][.soak]") {
  come_and_go(10'000);
}

}  // namespace
