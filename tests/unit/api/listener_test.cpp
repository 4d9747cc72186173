// SPDX-License-Identifier: Apache-2.0
// Waiting at a listener, and connection requests.
#include <unistd.h>

#include <future>
#include <string>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

/// The error with which `wait` ends. The endpoint, if any, is destroyed.
task<errc> end_of(task<endpoint> wait) { co_return (co_await as_result(std::move(wait))).code(); }

/// The error text for the requester, once a listener is there. Empty: it was accepted.
task<std::string> answer_at(context& guest, std::string address) {
  for (;;) {
    const result<endpoint> in = co_await as_result(guest.connect(address));
    if (in) co_return std::string();
    std::string told = in.failure().what();
    if (told.find("nobody listens") == told.npos) co_return told;
  }
}

}  // namespace

TEST_CASE("listener: a wait that was given up takes no requester with it") {
  context host, guest;
  const std::string address = "unix://weft-listener-" + std::to_string(::getpid());
  listener listening = run(host, host.listen(address));
  for (int i = 0; i != 3; ++i)
    REQUIRE(run(host, end_of(within(1ms, listening.accept()))) == errc::timed_out);
  auto came =
      std::async(std::launch::async, [&] { return run(guest, end_of(guest.connect(address))); });
  CHECK(run(host, end_of(within(20s, listening.accept()))) == errc::ok);
  CHECK(came.get() == errc::ok);
}

TEST_CASE("listener: a bad address is said to be the caller's mistake, or the system's") {
  context ctx;
  const std::string here = "unix://weft-listener-here-" + std::to_string(::getpid());
  const std::string there = "unix://weft-listener-there-" + std::to_string(::getpid());
  CHECK(run(ctx, end_of(ctx.connect(here))) == errc::refused);
  listener listening = run(ctx, ctx.listen(here));
  CHECK(run(ctx, end_of(ctx.connect("nonsense"))) == errc::invalid_argument);
  CHECK(run(ctx, end_of(ctx.connect(here, std::string(2000, 'x')))) == errc::invalid_argument);
  CHECK(run(ctx, end_of(ctx.meet(there, there, "x"))) == errc::invalid_argument);
  CHECK(run(ctx, end_of(ctx.meet("nonsense", there, "x"))) == errc::invalid_argument);
  CHECK(run(ctx, end_of(ctx.meet(here, there, "x"))) == errc::system);
}

TEST_CASE("listener: a request that comes while it is still being opened waits for its owner") {
  context host, guest;
  for (int round = 0; round != 200; ++round) {
    const std::string address =
        "unix://weft-listener-early-" + std::to_string(::getpid()) + "-" + std::to_string(round);
    auto answer =
        std::async(std::launch::async, [&] { return run(guest, answer_at(guest, address)); });
    listener listening = run(host, host.listen(address));
    CHECK(run(host, end_of(within(20s, listening.accept()))) == errc::ok);
    REQUIRE(answer.get() == "");
  }
}

TEST_CASE("listener: errors say where the other side is") {
  const std::string address = "unix://weft-listener-where-" + std::to_string(::getpid());
  context host;
  listener listening = run(host, host.listen(address));
  const auto failure_of = [](endpoint from) -> task<std::string> {
    co_return (co_await as_result(from.recv(mutable_buffer{}, tag{1}))).failure().what();
  };
  context guest;
  auto came = std::async(std::launch::async, [&] { return run(guest, guest.connect(address)); });
  const endpoint requester = run(host, listening.accept());
  endpoint server = came.get();
  CHECK_THAT(server.describe(), weft::tests::contains("its first message makes a link"));
  server.close();
  auto hosts = std::async(std::launch::async, [&] { return run(host, failure_of(requester)); });
  CHECK_THAT(run(guest, failure_of(server)), weft::tests::contains("(peer: " + address + ")"));
  CHECK_THAT(hosts.get(),
             weft::tests::contains("(peer: process " + std::to_string(::getpid()) + ")"));
}
