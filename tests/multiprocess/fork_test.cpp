// SPDX-License-Identifier: Apache-2.0
// A process that has forked without executing another program is killed. Its child does not delay
// the others, also over TCP, where the process itself cannot be watched.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include <weft/weft.hpp>

#include "runtime/descriptors/fd.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr tag private_data{1}, unsent{2};

options over_tcp() {
  options o;
  o.transports = {"self", "tcp"};
  o.job_key = std::string(32, 'a');
  return o;
}

struct line {
  line() {
    int fds[2];
    REQUIRE(::pipe2(fds, O_CLOEXEC) == 0);
    hears = unique_fd(fds[0]);
    says = unique_fd(fds[1]);
  }
  /// Reads until all processes have closed the other end.
  std::string rest() const {
    std::string all;
    char c = 0;
    while (::read(hears.get(), &c, 1) == 1) all += c;
    return all;
  }
  std::string word() const {
    std::string all;
    char c = 0;
    while (::read(hears.get(), &c, 1) == 1 && c != '\n') all += c;
    return all;
  }
  void say(const std::string& word) const {
    if (::write(says.get(), (word + '\n').data(), word.size() + 1) < 0) ::_exit(1);
  }
  unique_fd hears, says;
};

/// Connects to a peer, forks a child that lives as long as the test does, and waits for its end.
[[noreturn]] void be_victim(line& told, line& life) {
  life.says = {};
  context ctx(over_tcp());
  listener listening = run(ctx, ctx.listen("tcp://127.0.0.1:0"));
  told.say(listening.address());
  endpoint peer = run(ctx, listening.accept());
  std::byte out{7};
  sync_wait(ctx, peer.send({&out, 1}, private_data));
  sync_wait(ctx, peer.recv(mutable_buffer{}, private_data));
  if (::fork() == 0) {
    told.say("forked");
    life.rest();
    told.say("the child has lived");
    ::_exit(0);
  }
  for (;;) ::pause();
}

task<errc> how_it_ends(endpoint peer) {
  std::byte in{};
  const auto r = co_await as_result(within(20s, peer.recv({&in, 1}, unsent)));
  co_return r.code();
}

task<std::string> request_connection(context& ctx, std::string address) try {
  co_await within(20s, ctx.connect(address));
  co_return "connected";
} catch (const error& e) {
  co_return e.what();
}

}  // namespace

TEST_CASE("death: of a process that has forked, over TCP, is seen while its child lives") {
  line told, life;
  const pid_t victim = ::fork();
  REQUIRE(victim >= 0);
  if (victim == 0) be_victim(told, life);
  told.says = {};

  const std::string address = told.word();
  context ctx(over_tcp());
  endpoint peer = run(ctx, ctx.connect(address));
  std::byte in{};
  sync_wait(ctx, peer.recv({&in, 1}, private_data));
  sync_wait(ctx, peer.send(const_buffer{}, private_data));
  REQUIRE(told.word() == "forked");
  REQUIRE(::kill(victim, SIGKILL) == 0);
  ::waitpid(victim, nullptr, 0);

  CHECK(run(ctx, how_it_ends(peer)) == errc::peer_lost);
  // No process listens at its listener any more.
  CHECK_THAT(run(ctx, request_connection(ctx, address)), weft::tests::contains("nobody listens"));

  life.says = {};
  CHECK(told.word() == "the child has lived");
}
