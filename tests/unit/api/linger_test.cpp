// SPDX-License-Identifier: Apache-2.0
// What a context has accepted, or owes, leaves before it ends; else both sides hear of it.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr int many = 3000;

options alone(const char* transport, std::chrono::milliseconds linger = 60s) {
  options o = options::from_environment();
  o.standalone = true;
  o.transports = {"self", transport};
  o.linger = linger;
  return o;
}

task<void> send_number(endpoint to, int n) { co_await to.send_value(tag{1}, n); }

task<void> sum_up(endpoint from, long& sum) {
  for (int i = 0; i != many; ++i) {
    const int n = co_await from.recv_value<int>(tag{1});
    sum += n == i ? 1 : 0;
  }
}

task<void> end_at_once() { co_return; }

/// A context that listens, and on a thread another one that connects to it.
struct meeting {
  explicit meeting(const char* transport)
      : listens(alone(transport)), listening(run(listens, listens.listen("any://127.0.0.1:0"))) {}
  endpoint accept() { return run(listens, listening.accept()); }
  template <class Act>
  void connect(options chosen, Act act) {
    other = std::jthread([this, chosen = std::move(chosen), act] {
      context connects(chosen);
      act(connects, run(connects, connects.connect(listening.address())));
    });
  }
  context listens;
  listener listening;
  std::jthread other;
};

}  // namespace

TEST_CASE("linger: messages that were begun arrive, also when their context ends at once") {
  const char* const transport = GENERATE("shm", "tcp");
  meeting m(transport);
  m.connect(alone(transport), [](context& ctx, const endpoint& to) {
    for (int i = 0; i != many; ++i) spawn(ctx, send_number(to, i));
    run(ctx, end_at_once());
  });
  long sum = 0;
  run(m.listens, sum_up(m.accept(), sum));
  CHECK(sum == many);
}

namespace {

task<void> receive_one_of_two(endpoint from, errc& how, std::string& why) {
  result<int> heard = co_await as_result(from.recv_value<int>(tag{2}));
  how = heard.code();
  try {
    static_cast<void>(heard.value());
  } catch (const error& e) {
    why = e.what();
  }
}

task<void> send_to_nobody(endpoint to, errc& how, std::string& why) {
  const int n = 7;
  try {
    co_await to.send_synchronous(std::as_bytes(std::span(&n, 1)), tag{1});
  } catch (const error& e) {
    how = e.kind();
    why = e.what();
  }
}

}  // namespace

TEST_CASE("linger: what is not taken in time is an error at both sides, with the cure") {
  const auto linger = GENERATE(0ms, 20ms);
  meeting m("shm");
  errc here = errc::ok, there = errc::ok;
  std::string why_here, why_there;
  m.connect(alone("shm", linger), [&](context& ctx, const endpoint& to) {
    spawn(ctx, send_to_nobody(to, there, why_there));
    run(ctx, end_at_once());
  });
  run(m.listens, receive_one_of_two(m.accept(), here, why_here));
  m.other.join();
  CHECK(here == errc::peer_lost);
  CHECK_THAT(why_here, weft::tests::contains("WEFT_LINGER"));
  CHECK(there == errc::timed_out);
  CHECK_THAT(why_there, weft::tests::contains("WEFT_LINGER"));
}

TEST_CASE("linger: a program that fails does not wait for its sends") {
  meeting m("shm");
  errc here = errc::ok, there = errc::ok;
  std::string why_here, why_there;
  m.connect(alone("shm", 1h), [](context&, const endpoint&) {});  // else the test would not end
  const endpoint first = m.accept();
  m.other.join();
  m.other = std::jthread([&] {
    try {
      context connects(alone("shm", 1h));
      const endpoint to = run(connects, connects.connect(m.listening.address()));
      spawn(connects, send_to_nobody(to, there, why_there));
      run(connects, end_at_once());
      throw 1;
    } catch (int) {
    }
  });
  run(m.listens, receive_one_of_two(m.accept(), here, why_here));
  m.other.join();
  CHECK(here == errc::peer_lost);
  CHECK(there == errc::closed);
}
