// SPDX-License-Identifier: Apache-2.0
// A process dies, or is stopped, in the middle of calls: while a handler runs, while a large body
// crosses, and in a stream of values. The other side's calls and handlers end.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "serving.hpp"
#include "support/catch.hpp"
#include "world.hpp"

using namespace fault;
using namespace std::chrono_literals;
using serving::slow_service;
using serving::three_calls;
using weft::errc;
using weft::task;

namespace {

task<void> until(const int& value, int least) {
  while (value < least) co_await weft::sleep_for(100us);
}

/// The caller is killed when three handlers run.
task<void> serve_one_that_dies(weft::context& ctx, weft::listener& listening, program& victim,
                               slow_service& service) {
  weft::endpoint there = co_await listening.accept();
  co_await until(service.begun, 3);
  ::kill(victim.pid(), SIGKILL);
  co_await there.closed();
  while (service.running != 0) co_await weft::sleep_for(100us);
  static_cast<void>(ctx);
}

task<void> kill_when(const int& notes, const three_calls& of, pid_t victim) {
  co_await until(notes, 2);
  co_await until(of.values_read, 3);
  ::kill(victim, SIGKILL);
}

/// The called process is killed when its handlers run.
task<three_calls> call_one_that_dies(weft::listener& listening, program& victim, const int& notes) {
  weft::endpoint there = co_await listening.accept();
  three_calls calls;
  weft::scope both;
  both.start(serving::make_calls(there, calls));
  both.start(kill_when(notes, calls, victim.pid()));
  co_await both.join();
  co_return calls;
}

/// The called process is stopped; calls end by their deadlines, and their handlers end when it goes
/// on.
task<three_calls> call_one_that_is_stopped(weft::listener& listening, program& other,
                                           const int& notes) {
  weft::endpoint there = co_await listening.accept();
  three_calls calls;
  weft::async_generator<int> values = there.call_stream<int>(serving::gives_values);
  const int* const first = co_await values.next();
  if (first) ++calls.values_read;
  const auto before =
      co_await weft::as_result(weft::within(50ms, serving::call_and_wait(there, calls.wait)));
  CHECK(before.code() == errc::ok);
  // Stopped by the deadline here, or timed out by the one that went with the call.
  CHECK((calls.wait == errc::stopped || calls.wait == errc::timed_out));
  CHECK(notes == 1);
  ::kill(other.pid(), SIGSTOP);
  // Those that have come are read; nothing follows.
  for (errc how = errc::ok; how == errc::ok; calls.values = how) {
    const auto r = co_await weft::as_result(weft::within(50ms, values.next()));
    how = r.code();
  }
  const auto late = co_await weft::as_result(weft::within(50ms, there.call<void>(serving::waits)));
  calls.wait = late.code();
  ::kill(other.pid(), SIGCONT);
  int running = 1;
  while (running != 0) running = co_await there.call<int>(serving::how_many);
  there.close();
  co_await there.closed();
  co_return calls;
}

struct two_sides {
  explicit two_sides(const std::string& transport)
      : ctx(with_transport(transport)),
        listening(weft::run(ctx, ctx.listen("unix://weft-serving-" + std::to_string(::getpid())))),
        note(ctx.on<void()>(serving::began, [this] { ++notes; })),
        environment("WEFT_TRANSPORTS=" + transport) {}
  static weft::options with_transport(const std::string& t) {
    weft::options o;
    o.apply("WEFT_TRANSPORTS=" + t);
    return o;
  }

  int notes = 0;
  weft::context ctx;
  weft::listener listening;
  weft::handler note;
  std::string environment;
};

}  // namespace

TEST_CASE("calls: a process dies, or is stopped, in the middle of calls") {
  enter_private_world();
  for (const std::string& transport : transports()) {
    CAPTURE(transport);
    {
      two_sides s(transport);
      const auto come = [&](const char* what) {
        return std::make_unique<program>(
            std::vector<std::string>{bin + "/tests/serving", s.listening.address(), what},
            std::vector<std::string>{s.environment});
      };
      {
        slow_service service(s.ctx);
        const auto victim = come("call");
        weft::run(s.ctx, serve_one_that_dies(s.ctx, s.listening, *victim, service));
        CHECK(victim->wait() == 128 + SIGKILL);
        CHECK(service.running == 0);
      }
      {
        const auto victim = come("serve");
        const three_calls ends =
            weft::run(s.ctx, call_one_that_dies(s.listening, *victim, s.notes));
        CHECK(victim->wait() == 128 + SIGKILL);
        CHECK(ends.wait == errc::peer_lost);
        CHECK(ends.body == errc::peer_lost);
        CHECK(ends.values == errc::peer_lost);
      }
      s.notes = 0;
      {
        const auto other = come("serve");
        const three_calls ends =
            weft::run(s.ctx, call_one_that_is_stopped(s.listening, *other, s.notes));
        CHECK(ends.wait == errc::timed_out);
        CHECK(ends.values == errc::timed_out);
        CHECK(ends.values_read == 1);
        CHECK(other->wait() == 0);
      }
    }
    CHECK(leftovers().empty());
  }
}
