// SPDX-License-Identifier: Apache-2.0
// A process that says that it is somebody else gets no endpoint, and the real one keeps its own.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <future>
#include <string>

#include <catch2/catch.hpp>

#include <weft/weft.hpp>

#include "runtime/fd.hpp"
#include "wireup/connection_manager.hpp"
#include "wireup/unix_socket.hpp"

using namespace weft;

namespace {

/// A process that knocks at a door when it is told to, under an identity of its choice, and then
/// stays until this object goes. Made before this process has threads.
class visitor {
 public:
  visitor(const std::string& door, wireup::context_id id) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    go_ = runtime::unique_fd(ends[1]);
    const runtime::unique_fd told(ends[0]);
    if (pid_ != 0) return;
    go_ = {};
    char c = 0;
    if (::read(told.get(), &c, 1) == 1) {
      wireup::identity self;
      self.id = id;
      wireup::connection_manager::handlers none;
      none.on_parcel = [](const wireup::channel_ptr&, transports::parcel) {};
      none.on_gone = [](const wireup::channel_ptr&, bool) {};
      none.on_visit = [](std::uint64_t, std::unique_ptr<wireup::door_visit>) {};
      none.on_notice = [](const std::string&) {};
      wireup::connection_manager manager(self, none);
      std::promise<void> answered;
      manager.knock(door, "hello", [&](const wireup::channel_ptr&, const wireup::failure&) {
        answered.set_value();
      });
      answered.get_future().wait();
      while (::read(told.get(), &c, 1) > 0) {  // until the other end is closed
      }
    }
    ::_exit(0);
  }
  ~visitor() {
    go_ = {};
    ::waitpid(pid_, nullptr, 0);
  }
  visitor(const visitor&) = delete;
  visitor& operator=(const visitor&) = delete;

  void knock() const { REQUIRE(::write(go_.get(), "k", 1) == 1); }

 private:
  pid_t pid_ = -1;
  runtime::unique_fd go_;
};

task<void> receive(context& ctx, const std::string& door, const visitor& real,
                   const visitor& impostor) {
  listener at = co_await ctx.listen(door);
  real.knock();
  listener::visitor first = co_await at.next();
  endpoint peer = co_await first.accept();
  impostor.knock();
  listener::visitor second = co_await at.next();
  const auto r = co_await as_result(second.accept());
  CHECK(r.code() == errc::protocol_error);
  // Still there: nothing has ended.
  const auto end = co_await as_result(within(std::chrono::milliseconds(50), peer.closed()));
  CHECK(end.code() == errc::timed_out);
}

}  // namespace

TEST_CASE("impostor: two processes cannot be one context") {
  const std::string door = "unix://weft-impostor-" + std::to_string(::getpid());
  const wireup::context_id id = wireup::random_id();
  const visitor real(door, id), impostor(door, id);
  context ctx;
  run(ctx, receive(ctx, door, real, impostor));
}
