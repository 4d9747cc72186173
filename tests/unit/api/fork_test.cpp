// SPDX-License-Identifier: Apache-2.0
// A child that fork() made, and its copy of the parent's contexts.
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <weft/external_loop.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

/// Two connected contexts, with handles whose ends would send messages.
struct couple {
  explicit couple(const std::string& name)
      : listening(run(host, host.listen("unix://weft-fork-" + name + std::to_string(::getpid())))) {
    std::thread accepting([&] { guest_at_host = run(host, listening->accept()); });
    host_at_guest = run(guest, guest.connect(listening->address()));
    accepting.join();
    memory.emplace(guest, 4096);
  }

  /// Sends a message from one to the other.
  void talk() {
    std::byte out{7}, in{};
    sync_wait(guest, within(30s, host_at_guest.send({&out, 1}, tag{1})));
    sync_wait(host, within(30s, guest_at_host.recv({&in, 1}, tag{1})));
    CHECK(in == out);
  }

  context host, guest;
  std::optional<listener> listening;
  endpoint guest_at_host, host_at_guest;
  std::optional<shared_memory> memory;
};

/// \return the status of a child that calls `f`
int in_child(const std::function<int()>& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a hang ends the child, too
    ::_exit(f());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("fork: the end of a context in a child concerns nobody") {
  std::optional<couple> both(std::in_place, "end-");
  both->talk();
  CHECK(in_child([&] {
          both.reset();
          return 0;
        }) == 0);
  both->talk();
}

TEST_CASE("fork: the end of handles in a child concerns nobody") {
  couple both("handles-");
  both.talk();
  std::byte out{7}, in{};
  sync_wait(both.guest, both.host_at_guest.send({&out, 1}, tag{2}));
  std::optional<claimed_message> message;
  while (!message) message = both.guest_at_host.try_claim(tag{2});
  context late;
  std::optional<listener::connection_request> requester;
  std::thread requesting([&] { run(late, late.connect(both.listening->address())); });
  requester = run(both.host, both.listening->next());
  std::optional<external_loop> calls(std::in_place, both.guest);
  CHECK(in_child([&] {
          calls.reset();
          requester.reset();
          message.reset();
          return 0;
        }) == 0);
  calls.reset();
  run(both.host, requester->accept());
  requesting.join();
  sync_wait(both.host, message->recv({&in, 1}));
  CHECK(in == out);
  both.talk();
}

TEST_CASE("fork: a child that uses its parent's context is told what to do instead") {
  couple both("use-");
  CHECK_FALSE(both.host.is_inherited());
  CHECK(in_child([&] {
          if (!both.host.is_inherited()) return 1;
          try {
            run(both.host, both.host.listen("unix://weft-fork-child"));
          } catch (const error& e) {
            const bool tells =
                std::string(e.what()).find("options::standalone") != std::string::npos;
            return e.kind() == errc::invalid_argument && tells ? 0 : 2;
          }
          return 3;
        }) == 0);
  both.talk();
}
