// SPDX-License-Identifier: Apache-2.0
// leaving WAY: a process that exits, with 3, while messages for it keep coming and receives for
// them are posted. The receives are into a static object, which is destroyed, and its memory
// unmapped, some time before the process ends.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/context_address.hpp>
#include <weft/weft.hpp>

using namespace weft;

namespace {

constexpr int well = 3;
constexpr tag flood{1}, hello{2};
constexpr std::size_t piece = 64 * 1024, pieces = 16;
constexpr int enough = 20;

options alone() {
  options o = options::from_environment();
  o.standalone = true;
  return o;
}

context_address read_contact(int fd) {
  context_address c;
  if (::read(fd, c.bytes.data(), c.bytes.size()) != static_cast<ssize_t>(c.bytes.size()))
    ::_exit(2);
  return c;
}
void write_contact(int fd, const context_address& c) {
  if (::write(fd, c.bytes.data(), c.bytes.size()) != static_cast<ssize_t>(c.bytes.size()))
    ::_exit(2);
}

// --- the other process ------------------------------------------------------------------------

task<void> answer(context& there) {
  for (char c = 0;;) {
    const received got = co_await there.recv(std::as_writable_bytes(std::span(&c, 1)), hello);
    co_await there.peer(got.source).send(std::as_bytes(std::span(&c, 1)), hello);
  }
}
task<void> send_many(endpoint to, int count) {
  const std::vector<std::byte> data(piece);
  for (int i = 0; i != count; ++i) co_await to.send(data, flood);
}

[[noreturn]] void be_the_other(int from, int to, int count) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    context there(alone());
    write_contact(to, context_address_of(there));
    const endpoint peer = peer_at(there, read_contact(from));
    run(there, [&]() -> task<void> {
      scope both;
      both.start(answer(there));
      if (count != 0) both.start(send_many(peer, count));
      co_await both.join();
    }());
  } catch (const error&) {
    // The other process has gone.
  }
  ::_exit(0);
}

// --- this one ---------------------------------------------------------------------------------

/// Destroyed last: gives what weft still does time to go wrong.
struct last {
  ~last() { ::poll(nullptr, 0, 5); }
};
last outlives_all;

std::unique_ptr<context> owned;
endpoint other;

/// Sends to the other process over a link that is not there yet.
task<void> greet() {
  char out = 7, in = 0;
  scope both;
  both.start(other.send(std::as_bytes(std::span(&out, 1)), hello));
  both.start(other.recv(std::as_writable_bytes(std::span(&in, 1)), hello));
  co_await both.join();
  if (in != out) ::_exit(1);
}
struct late_user {
  bool used = false;
  ~late_user() {
    if (used) run(*owned, greet());
  }
};
late_user late;

std::vector<std::byte> static_inbox(pieces* piece);
std::span<std::byte> inbox = static_inbox;
std::atomic<int> messages{0};
std::atomic<bool> settled{false};
int from_other = -1, to_other = -1;

void meet(context& here) {
  write_contact(to_other, context_address_of(here));
  other = peer_at(here, read_contact(from_other));
}
context& static_context() {
  static context here(alone());
  meet(here);
  return here;
}

void stay() {}
task<void> receive_for_ever(context& here, std::size_t number) {
  for (;;) {
    co_await here.recv(inbox.subspan(number * piece, piece), flood);
    messages.fetch_add(1);
  }
}
/// With all receives posted, and after some messages.
task<void> receive(context& here, void (*and_then)()) {
  scope all;
  for (std::size_t i = 0; i != pieces; ++i) all.start(receive_for_ever(here, i));
  while (messages.load() < enough) co_await sleep_for(std::chrono::microseconds(50));
  and_then();
  co_await all.join();
}
/// The same, and after that a sleep, before which a connection gives up the memory that it does not
/// need.
task<void> receive_and_settle(context& here) {
  scope all;
  all.start(receive(here, &stay));
  while (messages.load() < enough) co_await sleep_for(std::chrono::microseconds(50));
  const std::uint64_t before = here.snapshot().sleeps;
  while (here.snapshot().sleeps < before + 10) co_await sleep_for(std::chrono::milliseconds(1));
  settled.store(true);
  co_await all.join();
}
task<void> receive_one(context& here, executor& on, void (*and_then)()) {
  co_await resume_on(on);
  co_await here.recv(inbox.first(piece), hello);
  and_then();
}

void leave() { std::exit(well); }
struct stop {};
void return_to_main() { throw stop(); }

/// Not a proper executor: coroutines run on the very thread that moves messages.
struct at_once final : executor {
  void post(operation& work) noexcept override { work.complete(); }
};

/// No thread is inside run() when `there` resumes a coroutine that exits.
void alone_with(executor& there) {
  context& here = static_context();
  spawn(here, receive_one(here, there, &leave));
  sync_wait(here, other.send(inbox.first(1), hello));
  for (;;) ::pause();
}

const std::map<std::string, void (*)()> ways{
    {"return", [] { static_context(); }},
    {"return_with_receives",
     [] {
       context& here = static_context();
       try {
         run(here, receive(here, &return_to_main));
       } catch (stop) {
       }
     }},
    {"coroutine",
     [] {
       context here(alone());
       meet(here);
       run(here, receive(here, &leave));
     }},
    {"coroutine_static",
     [] {
       context& here = static_context();
       run(here, receive(here, &leave));
     }},
    {"progress_thread",
     [] {
       static at_once here_and_now;
       alone_with(here_and_now);
     }},
    {"thread",  // the thread inside run() goes on: what it uses is not static
     [] {
       context& here = *new context(alone());
       meet(here);
       inbox = *new std::vector<std::byte>(pieces * piece);
       std::thread([] {
         while (messages.load() < enough) std::this_thread::yield();
         leave();
       }).detach();
       run(here, receive(here, &stay));
     }},
    {"signal",
     [] {
       context& here = static_context();
       struct sigaction act = {};
       // No thread is in malloc by then; a program must not exit from a signal in malloc, because
       // exit needs malloc, too. The timer takes the place of the alarm that ends a hang.
       act.sa_handler = [](int) {
         static std::atomic<int> count{0};
         if (settled.load()) leave();
         if (count.fetch_add(1) == 200'000) ::_exit(4);
       };
       ::sigaction(SIGALRM, &act, nullptr);
       const itimerval often{{0, 300}, {0, 300}};
       ::setitimer(ITIMER_REAL, &often, nullptr);
       run(here, receive_and_settle(here));
     }},
    {"heap",
     [] {
       owned = std::make_unique<context>(alone());
       meet(*owned);
       run(*owned, greet());
     }},
    {"late_use",
     [] {
       owned = std::make_unique<context>(alone());
       meet(*owned);
       late.used = true;
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto way = argc == 2 ? ways.find(argv[1]) : ways.end();
  std::array<int, 2> out, back;
  if (way == ways.end() || ::pipe(out.data()) != 0 || ::pipe(back.data()) != 0) return 2;
  const bool quiet =
      way->first == "heap" || way->first == "late_use" || way->first == "progress_thread";
  const int count = quiet ? 0 : way->first == "signal" ? enough : 1 << 30;
  if (::fork() == 0) be_the_other(out[0], back[1], count);
  to_other = out[1];
  from_other = back[0];
  try {
    way->second();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "leaving: %s\n", e.what());
    return 1;
  }
  return well;
}
