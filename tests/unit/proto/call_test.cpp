// SPDX-License-Identifier: Apache-2.0
// Calls between messengers: they begin, are answered or refused, and end.
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "calls_of_test.hpp"

using namespace net;

TEST_CASE("calls: an inline handler answers small calls, and nothing is left") {
  nodes n(2, either_memory());
  {
    const auto h = serve_inline(n[0], am{7}, &call_echo_inline);
    for (const std::size_t size : call_sizes) {
      CAPTURE(size);
      call_of_test c(n[1], am{7}, size, size);
      n.settle();
      if (size <= 8192) {
        CHECK(c.op.ended_with(errc::ok));
        CHECK(c.op.take() == size);
        CHECK((c.in == c.out));
      } else {
        CHECK(c.op.ended_with(errc::refused));
        CHECK(c.op.explain().find("at most 8192") != std::string::npos);
      }
    }
  }
  CHECK(n.clean());
}

TEST_CASE("calls: a handler's coroutine gets arguments of any size and replies with any size") {
  nodes n(2, either_memory());
  {
    const auto h = serve(n[0], am{7}, &call_echo);
    for (const std::size_t size : call_sizes) {
      CAPTURE(size);
      call_of_test c(n[1], am{7}, size, size);
      n.settle();
      CHECK(c.op.ended_with(errc::ok));
      CHECK((c.in == c.out));
    }
    call_of_test shorter(n[1], am{7}, 400'000, 100);
    n.settle();
    CHECK(shorter.op.ended_with(errc::truncated));
    CHECK(shorter.op.explain().find("400000") != std::string::npos);
    CHECK(n[0].messages.snapshot().calls_served == call_sizes.size() + 1);
  }
  CHECK(n.clean());
}

TEST_CASE("calls: a handler sees the first bytes of long arguments, also if these are announced") {
  fake::settings links;
  links.announced_beyond = GENERATE(0u, 1000u);
  weft::proto::messenger_settings how{64u << 20, 64u << 10};
  how.eager_data = GENERATE(weft::rendezvous_eager_data::yes, weft::rendezvous_eager_data::no);
  nodes n(2, links, how);
  {
    std::uint64_t key = 0;
    const auto h = serve(n[0], am{7}, [&key](weft::call c) -> task<void> {
      if (c.beginning().size() >= sizeof key) std::memcpy(&key, c.beginning().data(), sizeof key);
      bytes body(c.size());
      co_await c.recv(body);
    });
    for (const std::size_t size : {0u, 100u, 3000u, 100'000u}) {
      CAPTURE(size, links.announced_beyond, static_cast<int>(how.eager_data));
      const std::vector<std::uint64_t> row(size, 3);
      using row_view = std::span<const std::uint64_t>;
      tracked<weft::typed_call_operation<void>> op(weft::typed_call_request<void>{
          &n[1].to(0), am{7}, weft::detail::pack_values(size + 42, row_view(row)),
          &weft::detail::signature_of_call<void, std::size_t, row_view>});
      op.go();
      n.settle();
      CHECK(op.ended_with(errc::ok));
      CHECK(key == size + 42);
    }
  }
  CHECK(n.clean());
}

TEST_CASE("calls: an exception of the handler refuses the call with its text") {
  nodes n(2);
  const auto fails = serve(n[0], am{1}, [](weft::call) -> task<void> {
    throw std::runtime_error("the shop is shut");
    co_return;
  });
  const auto at_once = serve_inline(n[0], am{2}, [](const inline_call&) -> std::size_t {
    throw std::runtime_error("so is the kiosk");
  });
  call_of_test a(n[1], am{1}, 400'000, 8), b(n[1], am{2}, 8, 8);
  n.settle();
  CHECK(a.op.ended_with(errc::refused));
  CHECK(a.op.explain().find("handler 1 at rank 0: the shop is shut") != std::string::npos);
  CHECK(b.op.ended_with(errc::refused));
  CHECK(b.op.explain().find("so is the kiosk") != std::string::npos);
}

TEST_CASE("calls: a number without a handler is refused, and the text names those that there are") {
  const bytes word(8);
  nodes n(2);
  {
    const auto one = serve(n[0], am{9}, &call_echo);
    const auto other = serve(n[0], am{2}, &call_echo);
    call_of_test c(n[1], am{7}, 8, 8);
    const auto post = n[1].send(0, word, weft::detail::post_tag(am{7}));
    n.settle();
    CHECK(c.op.ended_with(errc::refused));
    CHECK(c.op.explain().find("there is no handler 7; registered are 2, 9") != std::string::npos);
    CHECK(post->ended_with(errc::ok));
    CHECK(n[0].messages.snapshot().posts_dropped == 1);
  }
  CHECK(n.clean());
}

TEST_CASE("calls: they wait for the first handler") {
  nodes n(2);
  call_of_test early(n[1], am{7}, 400'000, 400'000), other(n[1], am{8}, 8, 8);
  n.settle();
  CHECK_FALSE(early.op.ended());
  const auto h = serve(n[0], am{7}, &call_echo);
  const auto also = serve_inline(n[0], am{8}, &call_echo_inline);  // before the loop runs again
  n.settle();
  CHECK(early.op.ended_with(errc::ok));
  CHECK(other.op.ended_with(errc::ok));
  CHECK((other.in == other.out));
}

TEST_CASE("calls: a handler that gives no reply gives an empty one, and cannot give two") {
  nodes n(2);
  errc second = errc::ok;
  const auto none = serve(n[0], am{1}, [](weft::call) -> task<void> { co_return; });
  const auto two = serve(n[0], am{2}, [&](weft::call c) -> task<void> {
    co_await c.reply(c.data());
    const auto again = co_await weft::as_result(c.reply({}));
    second = again.code();
  });
  call_of_test a(n[1], am{1}, 8, 8), b(n[1], am{2}, 8, 8);
  n.settle();
  CHECK(a.op.ended_with(errc::ok));
  CHECK(a.op.take() == 0);
  CHECK(b.op.ended_with(errc::ok));
  CHECK((b.in == b.out));
  CHECK(second == errc::invalid_argument);
}

TEST_CASE("calls: posts are served in order, and need no reply") {
  nodes n(2);
  std::vector<std::size_t> got;
  std::vector<bytes> out;
  for (const std::size_t size : call_sizes) out.push_back(pattern(size));
  {
    const auto h = serve(n[0], am{7}, [&](weft::call c) -> task<void> {
      got.push_back(c.size());
      CHECK_FALSE(c.wants_reply());
      co_await c.reply(c.data());  // dropped
    });
    for (const bytes& data : out) n[1].send(0, data, weft::detail::post_tag(am{7}));
    n.settle();
  }
  CHECK(got == call_sizes);
  CHECK(n.clean());
}

TEST_CASE("calls: the deadline reaches the handler as time that is left, and stops it") {
  nodes n(2);
  weft::detail::time_point due{};
  bool stopped = false;
  const auto h = serve(n[0], am{7}, [&](weft::call c) -> task<void> {
    due = c.deadline();
    const auto r = co_await weft::as_result(call_that_waits(c));
    stopped = c.stop_requested();
    if (!r.has_value()) throw weft::error(r.failure());
  });
  bytes in(8);
  calling op(weft::raw_call_request{&n[1].to(0), am{7}, {}, mutable_buffer(in)});
  weft::task_environment with_deadline;
  with_deadline.deadline = n.world.now() + std::chrono::milliseconds(5);
  op.heed_deadline(with_deadline);
  op.go();
  n.settle();
  CHECK(op.ended_with(errc::timed_out));
  CHECK(stopped);
  CHECK(due >= with_deadline.deadline);
  CHECK(due < with_deadline.deadline + std::chrono::milliseconds(1));
}

TEST_CASE("calls: a handler that ends takes no more calls, and stops those that run") {
  nodes n(2);
  std::optional<registered> h = serve(n[0], am{7}, [](weft::call c) { return call_that_waits(c); });
  call_of_test running(n[1], am{7}, 8, 8);
  n.settle();
  CHECK_FALSE(running.op.ended());
  h.reset();
  call_of_test late(n[1], am{7}, 8, 8);
  n.settle();
  CHECK(running.op.ended_with(errc::closed));
  CHECK(late.op.ended_with(errc::closed));
  CHECK(late.op.explain().find("it has ended") != std::string::npos);
  CHECK(n.clean());
}

TEST_CASE("calls: a reply for which there is no memory at all is truncated, of any size") {
  nodes n(2, either_memory());
  {
    const auto h = serve(n[0], am{7}, &call_echo);
    for (const std::size_t size : call_sizes) {
      CAPTURE(size);
      call_of_test c(n[1], am{7}, size, 0);
      n.settle();
      CHECK(c.op.ended_with(size == 0 ? errc::ok : errc::truncated));
    }
  }
  CHECK(n.clean());
}
