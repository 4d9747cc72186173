// SPDX-License-Identifier: Apache-2.0
// A process is killed during communication: its peers are told, and other processes are not
// affected.
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/transports.hpp"

using namespace weft;

namespace {

using bytes = std::vector<std::byte>;
constexpr tag to_survivor{1}, to_victim{2}, never{3};

std::string base_name() {
  static int count = 0;
  return "weft-death-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

/// A talker process; killed and reaped at the latest by the destructor.
class talker {
 public:
  /// \param transport that carries its messages
  talker(const std::string& what, std::string name, const std::string& transport)
      : own_("unix://" + name + "-here"), other_("unix://" + name + "-there") {
    const std::string program = WEFT_TEST_BIN_DIR "/tests/talker";
    REQUIRE(::access(program.c_str(), X_OK) == 0);  // else this side would wait for it for ever
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setenv("WEFT_TRANSPORTS", transport.c_str(), 1);
      ::execl(program.c_str(), "talker", other_.c_str(), own_.c_str(), what.c_str(), nullptr);
      ::_exit(127);
    }
    REQUIRE(pid_ > 0);
  }
  ~talker() {
    kill();
    wait();
  }
  talker(const talker&) = delete;
  talker& operator=(const talker&) = delete;

  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }
  /// \return its status, 0 for a good end
  int wait() {
    int status = -1;
    if (pid_ > 0) ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }
  task<endpoint> meet(context& ctx) { return ctx.meet(own_, other_, "multiprocess"); }

 private:
  std::string own_, other_;
  pid_t pid_ = 0;
};

/// From now on this process and its children have their own /dev/shm, because all processes of this
/// machine use the other one.
bool enter_own_shared_memory() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64m") == 0;
}

/// Empty where that is forbidden: then the leftovers are unknown.
std::set<std::string> names_in_shared_memory() {
  static const bool alone = enter_own_shared_memory();
  std::set<std::string> names;
  DIR* d = alone ? ::opendir("/dev/shm") : nullptr;
  if (!d) return names;
  while (const dirent* e = ::readdir(d)) names.insert(e->d_name);
  ::closedir(d);
  return names;
}

int sockets_named(const std::string& name) {
  std::ifstream list("/proc/net/unix");
  int n = 0;
  for (std::string line; std::getline(list, line);) n += line.find(name) != std::string::npos;
  return n;
}

using ends = std::vector<errc>;

task<void> note(ends& into, send_request r) {
  const auto outcome = co_await as_result(r);
  into.push_back(outcome.code());
}
task<void> note(ends& into, recv_request r) {
  const auto outcome = co_await as_result(r);
  into.push_back(outcome.code());
}

/// Sends or receives until that fails; reports when it has succeeded `enough` times.
task<void> send_until(ends& into, endpoint other, std::size_t size, talker& victim, int enough) {
  const bytes data(size, std::byte{1});
  for (int i = 0;; ++i) {
    if (i == enough) victim.kill();
    const auto r = co_await as_result(other.send(data, to_victim));
    if (r) continue;
    into.push_back(r.code());
    co_return;
  }
}
task<void> receive_until(ends& into, endpoint other, std::size_t size, talker& victim, int enough) {
  bytes data(size);
  for (int i = 0;; ++i) {
    if (i == enough) victim.kill();
    const auto r = co_await as_result(other.recv(data, to_survivor));
    if (r) continue;
    into.push_back(r.code());
    co_return;
  }
}

/// The same with RMA on the memory of both sides: it reads, writes and counts there while the other
/// side writes here.
task<void> touch_until(context& ctx, ends& into, endpoint other, std::size_t size, talker& victim,
                       int enough) {
  bytes memory(size), data(size, std::byte{2});
  const region mine(ctx, memory, rights::read_write);
  remote_region here = mine.remote(), there;
  co_await other.recv(std::as_writable_bytes(std::span(&there, 1)), to_survivor);
  co_await other.send(std::as_bytes(std::span(&here, 1)), to_victim);
  co_await mine.notified();
  errc how = errc::ok;
  for (int i = 0; how == errc::ok; ++i) {
    if (i == enough) victim.kill();
    const auto r = co_await as_result(i % 2 == 0 ? other.put(data, there) : other.get(data, there));
    how = r.code();
    if (how != errc::ok) break;
    const auto counted = co_await as_result(other.fetch_add(there, 1));
    how = counted.code();
  }
  into.push_back(how);
}

task<void> echo_with(endpoint bystander, int rounds) {
  bytes out(100'000, std::byte{3}), in(100'000);
  for (int i = 0; i < rounds; ++i) {
    out[static_cast<std::size_t>(i)] = std::byte{9};
    co_await bystander.send(out, to_victim);
    co_await bystander.recv(in, to_survivor);
    if (in != out) throw std::logic_error("the bystander's messages are disturbed");
  }
}

task<void> survive(context& ctx, talker& victim, talker& other, std::string what, ends& result) {
  endpoint peer = co_await victim.meet(ctx);
  endpoint bystander = co_await other.meet(ctx);
  const bool large = what.ends_with("large");
  const std::size_t size = large ? std::size_t{4} << 20 : 8;
  const int enough = large ? 5 : 2000;
  const bytes out(1'000'000, std::byte{5});
  bytes in(10);
  scope all;
  // These wait for messages that will never come.
  all.start(note(result, peer.recv(in, never)));
  all.start(note(result, peer.send(out, never)));
  all.start(note(result, peer.send_synchronous(const_buffer(out).first(10), never)));
  all.start(echo_with(bystander, 50));
  if (what.starts_with("send") || what.starts_with("both"))
    all.start(receive_until(result, peer, size, victim, enough));
  if (what.starts_with("receive") || what.starts_with("both"))
    all.start(send_until(result, peer, size, victim, enough));
  if (what.starts_with("touch")) all.start(touch_until(ctx, result, peer, size, victim, enough));
  if (what == "silence") {
    co_await peer.recv(mutable_buffer{}, to_survivor);
    victim.kill();
  }
  co_await all.join();
  co_await peer.closed();
  all.start(note(result, peer.recv(in, never)));
  all.start(note(result, peer.send(out, never)));
  all.start(echo_with(bystander, 20));
  co_await all.join();
  bystander.close();
  co_await bystander.closed();
}

}  // namespace

TEST_CASE("death: a process killed while messages flow is lost, and only it") {
  const std::string what =
      GENERATE(as<std::string>{}, "send-small", "send-large", "receive-small", "receive-large",
               "both-small", "both-large", "touch-small", "touch-large", "silence");
  // A sanitizer sees the same memory in either mode.
  const progress_mode mode = WEFT_TEST_SANITIZED
                                 ? progress_mode::dedicated
                                 : GENERATE(progress_mode::dedicated, progress_mode::interrupt);
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(what, transport);
  const std::string name = base_name(), other_name = base_name();
  const auto shared_before = names_in_shared_memory();
  {
    talker victim(what, name, transport), bystander("echo", other_name, transport);
    options o;
    o.progress = mode;
    o.transports = {transport};
    context ctx(o);
    ends result;
    run(ctx, survive(ctx, victim, bystander, what, result));
    CHECK(result.size() >= 5);
    for (const errc e : result) CHECK(e == errc::peer_lost);
    CHECK(bystander.wait() == 0);
    const int status = victim.wait();
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  }
  CHECK(names_in_shared_memory() == shared_before);
  CHECK(sockets_named(name) == 0);
  CHECK(sockets_named(other_name) == 0);
}

TEST_CASE("death: a remote channel gives what has come, and then both its ends are lost") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  talker victim("channel", base_name(), transport);
  options o;
  o.transports = {transport};
  context ctx(o);
  struct outcome {
    int received = 0;
    ends failures;
  };
  const auto main = [](context& here, talker& t, outcome& seen) -> task<void> {
    endpoint peer = co_await t.meet(here);
    remote_receiver<std::vector<int>> from(here, peer, 1, 8);
    remote_sender<int> to(here, peer, 2, 1);  // the victim has no such channel
    co_await to.send(1);
    while (from.size() != 8) co_await sleep_for(std::chrono::milliseconds(1));
    t.kill();
    const result<void> waited = co_await as_result(to.send(2));
    const result<void> closed = co_await as_result(to.closed());
    co_await peer.closed();
    for (;;) {
      auto value = co_await as_result(from.receive());
      if (!value) {
        seen.failures = {waited.code(), closed.code(), value.code()};
        co_return;
      }
      const std::optional<std::vector<int>> some = std::move(value).value();
      if (!some || *some != std::vector<int>(1000, seen.received)) co_return;
      ++seen.received;
    }
  };
  outcome seen;
  run(ctx, main(ctx, victim, seen));
  CHECK(seen.received == 8);
  CHECK(seen.failures == ends{errc::peer_lost, errc::peer_lost, errc::peer_lost});
}

TEST_CASE("death: a process that leaves in good order has closed") {
  const std::string name = base_name();
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  talker leaver("leave", name, transport);
  options o;
  o.transports = {transport};
  context ctx(o);
  const auto main = [](context& here, talker& t) -> task<errc> {
    const endpoint peer = co_await t.meet(here);
    co_await peer.recv(mutable_buffer{}, to_survivor);
    bytes in(10);
    const auto r = co_await as_result(peer.recv(in, never));
    co_return r.code();
  };
  CHECK(run(ctx, main(ctx, leaver)) == errc::closed);
  CHECK(leaver.wait() == 0);
  CHECK(sockets_named(name) == 0);
}

TEST_CASE("death: a job of four ranks, all to all, and one of them killed") {
  const bool one_dies = GENERATE(false, true);
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  const std::string command = "export WEFT_TRANSPORTS=self," + transport +
                              std::string("; exec 2>/dev/null; " WEFT_TEST_BIN_DIR
                                          "/weft-run -n 4 " WEFT_TEST_BIN_DIR "/tests/all_to_all") +
                              (one_dies ? " mortal" : "");
  const auto shared_before = names_in_shared_memory();
  FILE* output = ::popen(command.c_str(), "r");
  REQUIRE(output);
  std::string text;
  for (char line[256]; std::fgets(line, sizeof line, output);) text += line;
  const int status = ::pclose(output);
  CAPTURE(text);
  REQUIRE(WIFEXITED(status));
  if (one_dies) {
    CHECK(WEXITSTATUS(status) == 128 + SIGKILL);
    for (const char* rank : {"rank 0 goes on", "rank 2 goes on", "rank 3 goes on"})
      CHECK(text.find(rank) != std::string::npos);
  } else {
    CHECK(WEXITSTATUS(status) == 0);
  }
  CHECK(names_in_shared_memory() == shared_before);
}
