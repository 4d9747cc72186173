// SPDX-License-Identifier: Apache-2.0
// A service that ends and comes back at its address: each of its lives is a context.
#include <weft/reconnecting_endpoint.hpp>

#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <thread>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr tag leave{1};
constexpr am which_life{1}, dies_before_life_4{2};

struct life {
  int number = 0;
  int served = 0;  // calls of dies_before_life_4
  event over;
};

task<int> die_or_answer(life& l) {
  ++l.served;
  if (l.number < 4) {
    l.over.set();
    co_await sleep_for(1h);
  }
  co_return l.number;
}

task<void> leave_when_asked(endpoint client) {
  co_await within(30s, client.recv(mutable_buffer{}, leave));
}

task<void> serve(context& ctx, std::string at, life& l) {
  listener door = co_await ctx.listen(at);
  const handler first = ctx.on<int()>(which_life, [&] { return l.number; });
  const handler second = ctx.on<int()>(dies_before_life_4, [&] { return die_or_answer(l); });
  endpoint client = co_await within(30s, door.accept());
  if (l.number == 4) co_return co_await within(30s, client.closed());
  if (l.number == 1) co_return co_await leave_when_asked(client);
  co_await within(30s, l.over.wait());
  client.abort();  // as if it had died
}

void live(const std::string& at, life& l) {
  try {
    options chosen;
    chosen.transports = {"shm"};
    context ctx(chosen);
    run(ctx, serve(ctx, at, l));
  } catch (const std::runtime_error&) {  // also errors of weft: the client then misses it
  }
}

struct seen {
  int first = 0, after_restart = 0, idempotent = 0;
  errc lost = errc::ok;
  std::string text;
  bool same_endpoint = false;
};

task<void> use(context& ctx, std::string at, seen& s) {
  reconnecting_endpoint service(ctx, at,
                                {.attempts = 1000,
                                 .first_pause = 1ms,
                                 .longest_pause = 10ms,
                                 .retriable = is_transient_or_refused});
  endpoint one = co_await service.connected();
  endpoint same = co_await service.connected();
  s.same_endpoint = one == same;
  s.first = co_await service.call<int>(which_life);
  co_await one.send(const_buffer{}, leave);
  co_await one.closed();
  s.after_restart = co_await service.call<int>(which_life);
  const auto once = co_await as_result(service.call<int>(dies_before_life_4));
  s.lost = once.code();
  if (!once) s.text = once.failure().what();
  s.idempotent = co_await service.call_idempotent<int>(dies_before_life_4);
  endpoint last = co_await service.connected();
  last.close();
  co_await last.closed();
}

}  // namespace

TEST_CASE("reconnecting_endpoint: a service that comes back, and calls that are repeated or not") {
  const std::string at = "unix://weft-reconnect-" + std::to_string(::getpid());
  std::array<life, 4> lives;
  std::thread server([&] {
    for (std::size_t i = 0; i != lives.size(); ++i) {
      lives[i].number = static_cast<int>(i) + 1;
      live(at, lives[i]);
    }
  });
  seen s;
  try {
    options chosen;
    chosen.transports = {"shm"};
    context ctx(chosen);
    run(ctx, within(60s, use(ctx, at, s)));
  } catch (const std::exception& e) {
    FAIL_CHECK(e.what());
  }
  server.join();
  CHECK(s.same_endpoint);
  CHECK(s.first == 1);
  CHECK(s.after_restart == 2);
  CHECK(is_loss(s.lost));  // the context ends right behind the abort: either may come first
  CHECK(s.text.find(at) != std::string::npos);
  CHECK(lives[1].served == 1);  // it was not repeated
  CHECK(lives[2].served == 1);
  CHECK(s.idempotent == 4);
}

TEST_CASE("reconnecting_endpoint: where nothing listens, the error names the address") {
  context ctx;
  const std::string at = "unix://weft-nothing-" + std::to_string(::getpid());
  reconnecting_endpoint service(
      ctx, at, {.attempts = 3, .first_pause = 1ms, .retriable = is_transient_or_refused});
  try {
    run(ctx, service.connected());
    FAIL_CHECK("nothing listens there");
  } catch (const error& e) {
    CHECK(e.kind() == errc::refused);
    CHECK(std::string(e.what()).starts_with("tried 3 times in "));
    CHECK(std::string(e.what()).find(at) != std::string::npos);
  }
}
