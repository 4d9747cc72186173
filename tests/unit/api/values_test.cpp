// SPDX-License-Identifier: Apache-2.0
// Values: which thread writes and reads them, and their ends in the middle.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

options value_options() {
  options o;
  o.progress = progress_mode::polling;
  return o;
}

/// A place where a function of the application waits for the test.
struct value_gate {
  std::atomic<bool> reached = false;
  std::binary_semaphore may_pass{0};

  void pass() {
    reached = true;
    may_pass.acquire();
  }
  task<void> has_been_reached() {
    while (!reached) co_await sleep_for(100us);
  }
};

/// A value of `megabytes`, whose functions stop at gates and note their thread.
struct gated_value {
  std::size_t megabytes = 0;
  value_gate* put_gate = nullptr;  ///< after 2 MB
  value_gate* get_gate = nullptr;  ///< after 2 MB, too
  std::thread::id* put_by = nullptr;
};

constexpr std::size_t megabyte = 1'000'000;

}  // namespace

template <>
struct weft::wire<gated_value> {
  static void put(sink& to, const gated_value& v) {
    if (v.put_by) *v.put_by = std::this_thread::get_id();
    to << std::uint64_t{v.megabytes} << reinterpret_cast<std::uintptr_t>(v.get_gate);
    const std::vector<std::byte> each(megabyte);
    for (std::size_t i = 0; i != v.megabytes; ++i) {
      if (i == 2 && v.put_gate) v.put_gate->pass();
      to.write(each);
    }
  }
  static gated_value get(source& from) {
    gated_value v;
    v.megabytes = from.get<std::uint64_t>();
    v.get_gate = reinterpret_cast<value_gate*>(from.get<std::uintptr_t>());  // of this process
    std::vector<std::byte> each(megabyte);
    for (std::size_t i = 0; i != v.megabytes; ++i) {
      if (i == 2 && v.get_gate) v.get_gate->pass();
      from.read(each);
    }
    return v;
  }
};

namespace {

/// A value without bytes.
struct empty_value {
  std::vector<int> cache;
};

}  // namespace

template <>
struct weft::wire<empty_value> {
  static void put(sink&, const empty_value&) {}
  static empty_value get(source&) { return {}; }
};

namespace {

constexpr tag gated_tag{3};

template <class X>
task<void> note_end(X x, errc& code, std::string& said) {
  const auto r = co_await as_result(std::move(x));
  code = r.code();
  if (!r) said = r.failure().what();
}

/// How both sides of a value ended.
struct value_ends {
  errc send = errc::ok, receive = errc::ok;
  std::string send_said, receive_said;
};

template <class X>
task<void> note_send(X x, value_ends& to) {
  return note_end(std::move(x), to.send, to.send_said);
}
template <class X>
task<void> note_receive(X x, value_ends& to) {
  return note_end(std::move(x), to.receive, to.receive_said);
}

}  // namespace

TEST_CASE("values: a short one is written by the coroutine's thread, a long one by another") {
  context ctx(value_options());
  endpoint self = ctx.world()[0];
  std::thread::id by;
  const auto there_and_back = [&](std::size_t megabytes) {
    gated_value v{megabytes, nullptr, nullptr, &by};
    run(ctx, [](endpoint peer, const gated_value& out) -> task<void> {
      scope fly;
      gated_value in;
      fly.start(peer.send_value(gated_tag, out));
      fly.start(peer.recv_value(gated_tag, in));
      co_await fly.join();
      CHECK(in.megabytes == out.megabytes);
    }(self, v));
  };
  there_and_back(0);
  CHECK(by == std::this_thread::get_id());
  there_and_back(5);
  CHECK(by != std::this_thread::get_id());
}

TEST_CASE("values: a receive is stopped in the middle of a long one, and its send ends well") {
  context ctx(value_options());
  value_gate gate;
  value_ends ends;
  run(ctx, [](endpoint self, value_gate& g, value_ends& how) -> task<void> {
    const gated_value out{8, &g};
    std::stop_source stop;
    scope fly;
    fly.start(note_send(self.send_value(gated_tag, out), how));
    fly.start(
        note_receive(stoppable(stop.get_token(), self.recv_value<gated_value>(gated_tag)), how));
    co_await g.has_been_reached();  // by a thread: the first piece has been received
    stop.request_stop();
    while (how.receive == errc::ok) co_await sleep_for(100us);
    g.may_pass.release();
    co_await fly.join();
  }(ctx.world()[0], gate, ends));
  CHECK(ends.receive == errc::stopped);
  CHECK(ends.send == errc::ok);
}

TEST_CASE("values: a send is stopped while its receiver is slow, and the receive tells it") {
  context ctx(value_options());
  value_gate gate;
  value_ends ends;
  run(ctx, [](endpoint self, value_gate& g, value_ends& how) -> task<void> {
    const gated_value out{20, nullptr, &g};
    std::stop_source stop;
    scope fly;
    fly.start(note_send(stoppable(stop.get_token(), self.send_value(gated_tag, out)), how));
    fly.start(note_receive(self.recv_value<gated_value>(gated_tag), how));
    co_await g.has_been_reached();
    stop.request_stop();
    while (how.send == errc::ok) co_await sleep_for(100us);
    g.may_pass.release();
    co_await fly.join();
  }(ctx.world()[0], gate, ends));
  CHECK(ends.send == errc::stopped);
  CHECK(ends.receive == errc::protocol_error);
  CHECK_THAT(ends.receive_said, weft::tests::contains("broke off"));
}

TEST_CASE("values: a deadline ends the send of a long value that is not received") {
  context ctx(value_options());
  const gated_value out{5};
  CHECK_THROWS_AS(run(ctx, within(1ms, ctx.world()[0].send_value(gated_tag, out))), weft::error);
  // The receiver does not see it.
  CHECK_FALSE(ctx.world()[0].try_probe(gated_tag));
}

TEST_CASE("values: the end of a connection ends both sides in the middle of a long value") {
  const std::string left = "unix://weft-values-left-" + std::to_string(::getpid());
  const std::string right = "unix://weft-values-right-" + std::to_string(::getpid());
  value_gate gate;
  value_ends ends;
  auto receiver = std::async(std::launch::async, [&] {
    context ctx(value_options());
    run(ctx,
        [](context& here, const std::string& own, const std::string& other, value_gate& g,
           value_ends& how) -> task<void> {
          endpoint peer = co_await here.meet(own, other, "values");
          scope fly;
          fly.start(note_receive(peer.recv_value<gated_value>(gated_tag), how));
          co_await g.has_been_reached();
          peer.close();
          co_await fly.join();
          g.may_pass.release();
        }(ctx, right, left, gate, ends));
  });
  context ctx(value_options());
  const gated_value out{8, &gate};
  run(ctx,
      [](context& here, const std::string& own, const std::string& other, const gated_value& what,
         value_ends& how) -> task<void> {
        endpoint peer = co_await here.meet(own, other, "values");
        co_await note_send(peer.send_value(gated_tag, what), how);
      }(ctx, left, right, out, ends));
  receiver.get();
  CHECK(ends.send == errc::peer_lost);
  CHECK(ends.receive == errc::peer_lost);
}

TEST_CASE("values: a request that owns its value may be awaited again") {
  context ctx(value_options());
  run(ctx, [](endpoint self) -> task<void> {
    const auto twice = self.send_value(gated_tag, 42);
    co_await twice;
    co_await twice;
    const int one = co_await self.recv_value<int>(gated_tag);
    const int two = co_await self.recv_value<int>(gated_tag);
    CHECK((one == 42 && two == 42));
  }(ctx.world()[0]));
}

TEST_CASE("values: elements of a vector without bytes, of which 8 bytes could tell any number") {
  context ctx(value_options());
  const endpoint me = ctx.peer(0);
  const std::uint64_t many = std::uint64_t{1} << 40;
  value_ends ends;
  std::vector<empty_value> into;
  run(ctx, when_all(me.send(std::as_bytes(std::span(&many, 1)), gated_tag),
                    note_receive(me.recv_value(gated_tag, into), ends)));
  CHECK(ends.receive == errc::protocol_error);
  CHECK_THAT(ends.receive_said, weft::tests::contains("an element of a container has no bytes"));
  run(ctx, note_send(me.send_value(gated_tag, std::vector<empty_value>(3)), ends));
  CHECK(ends.send == errc::invalid_argument);
  CHECK_THAT(ends.send_said, weft::tests::contains("an element of a container wrote no bytes"));
  // One alone, and none at all, are values.
  run(ctx,
      when_all(me.send_value(gated_tag, empty_value{}), me.recv_value<empty_value>(gated_tag)));
  into.resize(3);
  run(ctx, when_all(me.send_value(gated_tag, std::vector<empty_value>()),
                    me.recv_value(gated_tag, into)));
  CHECK(into.empty());
}

TEST_CASE("values: an endpoint that names no peer") {
  context ctx(value_options());
  endpoint none;
  const auto said = weft::tests::contains("this endpoint names no");
  const auto refusal_of = [&](auto x) {
    return tests::refusal([&] { sync_wait(ctx, std::move(x)); });
  };
  CHECK_THAT(refusal_of(none.send_value(gated_tag, 1)), said);
  CHECK_THAT(refusal_of(none.send_value(gated_tag, std::string("text"))), said);
  CHECK_THAT(refusal_of(none.send_value(gated_tag, gated_value{})), said);
  CHECK_THAT(refusal_of(none.send_value(gated_tag, gated_value{2})), said);
  CHECK_THAT(refusal_of(none.recv_value<int>(gated_tag)), said);
  CHECK_THAT(refusal_of(none.recv_value<std::string>(gated_tag)), said);
  CHECK_THAT(refusal_of(none.recv_value<gated_value>(gated_tag)), said);
  CHECK_THAT(refusal_of(ctx.recv_value<int>(tag{first_reserved_tag})),
             weft::tests::contains("top byte"));
  CHECK_THAT(refusal_of(ctx.recv_value<gated_value>(tag{first_reserved_tag})),
             weft::tests::contains("top byte"));
}
