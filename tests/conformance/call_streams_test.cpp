// SPDX-License-Identifier: Apache-2.0
// Calls answered by streams of values, over every transport and in every mode, both ways.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "conversation.hpp"
#include "one_thread.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr am count{1}, texts{2}, sold_out{3}, endless{4}, waits_long{5}, single{6};

/// The handlers of one end; in one context the left end has those of both.
constexpr am at(am which, bool left) { return {which.number + (left ? 100u : 200u)}; }

template <bool Left>
task<void> streams_meet(endpoint other, tag t) {
  scope both;
  both.start(other.send(const_buffer{}, tag{t.value + (Left ? 10 : 20)}));
  both.start(other.recv(mutable_buffer{}, tag{t.value + (Left ? 20 : 10)}));
  co_await both.join();
}

async_generator<int> up_to(int n) {
  for (int i = 0; i != n; ++i) {
    if (i % 70 == 0) co_await sleep_for(1us);
    co_yield i;
  }
}

async_generator<std::string> of_sizes(std::vector<std::size_t> sizes) {
  for (const std::size_t n : sizes) {
    std::string text(n, static_cast<char>('a' + n % 26));
    co_yield std::move(text);
  }
}

async_generator<int> then_fails(int n) {
  for (int i = 0; i != n; ++i) co_yield i;
  throw std::runtime_error("sold out");
}

/// What is left of a handler that its caller has left.
/// Of a handler's generator; read on another thread where the conversation lives on one of its own.
struct trace_of_end {
  std::atomic<int> given = 0;
  event taken;  // the first value, by the reader
  event gone;
};
struct at_end {
  trace_of_end* of;
  ~at_end() { of->gone.set(); }
};
async_generator<int> without_end(trace_of_end* t) {
  const at_end note{t};
  for (;;) co_yield t->given.fetch_add(1);
}
async_generator<int> one_and_then_a_wait(trace_of_end* t) {
  const at_end note{t};
  co_yield 1;
  t->taken.set();
  co_await sleep_for(1h);
}

template <bool Left>
struct stream_handlers {
  trace_of_end passed_on, asleep;
  handler all[6];

  explicit stream_handlers(context& here)
      : all{here.on<async_generator<int>(int)>(at(count, Left), &up_to),
            here.on<async_generator<std::string>(std::vector<std::size_t>)>(at(texts, Left),
                                                                            &of_sizes),
            here.on<async_generator<int>(int)>(at(sold_out, Left), &then_fails),
            here.on<async_generator<int>()>(at(endless, Left),
                                            [this] { return without_end(&passed_on); }),
            here.on<async_generator<int>()>(at(waits_long, Left),
                                            [this] { return one_and_then_a_wait(&asleep); }),
            here.on<int(int)>(at(single, Left), [](int n) { return n; })} {}
};

task<void> counts_to(endpoint other, am which, int n) {
  async_generator<int> numbers = other.call_stream<int>(which, n);
  int next = 0;
  while (int* got = co_await numbers.next()) expect(*got == next++, "values in order");
  expect(next == n, "all values");
}

template <class T>
task<std::string> failure_of(async_generator<T>& g) {
  const auto r = co_await as_result(g.next());
  co_return r ? std::string() : std::string(r.failure().what());
}

bool says(const std::string& text, const char* what) {
  return text.find(what) != std::string::npos;
}

task<void> ends_of_streams(endpoint other, bool its) {
  async_generator<int> three = other.call_stream<int>(at(sold_out, its), 20);
  for (int i = 0; i != 20; ++i) {
    const int* const got = co_await three.next();
    expect(got && *got == i, "the values before an exception");
  }
  const std::string why = co_await failure_of(three);
  expect(says(why, "sold out"), "the text of an exception: " + why);

  async_generator<int> no_stream = other.call_stream<int>(at(single, its), 1);
  const std::string plain = co_await failure_of(no_stream);
  expect(says(plain, "takes (i32) -> i32, and the call has (i32) -> i32..."), plain);
  async_generator<int> nothing = other.call_stream<int>(am{999}, 1);
  const std::string unknown = co_await failure_of(nothing);
  expect(says(unknown, "no handler 999"), unknown);
  async_generator<double> wide = other.call_stream<double>(at(count, its), 1);
  const std::string wrong = co_await failure_of(wide);
  expect(says(wrong, "takes (i32) -> i32..., and the call has (i32) -> f64..."), wrong);
  const auto as_plain = co_await as_result(other.call<int>(at(count, its), 1));
  expect(as_plain.code() == errc::refused, "a stream handler that is called for one reply");
  async_generator<int> late = other.call_stream<int>(at(waits_long, its));
  const int* const one = co_await late.next();
  expect(one && *one == 1, "a value before the wait");
  const auto r = co_await as_result(within(5ms, late.next()));
  expect(r.code() == errc::timed_out, "a deadline ends a next");
}

template <bool Left>
task<void> value_streams(context& here, endpoint other) {
  stream_handlers<Left> mine(here);
  co_await streams_meet<Left>(other, tag{1});
  for (const int n : {0, 1, 500}) co_await counts_to(other, at(count, !Left), n);
  {
    scope fly;
    for (int i = 0; i != 8; ++i) fly.start(counts_to(other, at(count, !Left), 100));
    co_await fly.join();
  }
  const std::vector<std::size_t> sizes{0, 100, 8000, 70'000, 5, 1'500'000, 1, 70'000, 70'000};
  async_generator<std::string> long_ones = other.call_stream<std::string>(at(texts, !Left), sizes);
  for (const std::size_t n : sizes) {
    const std::string* const text = co_await long_ones.next();
    expect(text && *text == std::string(n, static_cast<char>('a' + n % 26)), "a long value");
  }
  const std::string* const more = co_await long_ones.next();
  expect(!more, "the end");
  co_await ends_of_streams(other, !Left);
  {
    async_generator<int> all = other.call_stream<int>(at(endless, !Left));
    for (int i = 0; i != 3; ++i) {
      const int* const got = co_await all.next();
      expect(got && *got == i, "values without end");
    }
    co_await streams_meet<Left>(other, tag{2});
    for (int i = 0; i != 100; ++i) {
      const int back = co_await other.call<int>(at(single, !Left), i);
      expect(back == i, "other calls go on");
    }
    // It had time for more, but this reader has taken three.
    expect(mine.passed_on.given > 0 && mine.passed_on.given <= 3 + 17, "a handler is held back");
    co_await streams_meet<Left>(other, tag{3});
  }
  co_await mine.passed_on.gone.wait();
  co_await mine.asleep.gone.wait();
  co_await streams_meet<Left>(other, tag{4});
}
task<void> value_streams_elsewhere(context& here, endpoint other) {
  return elsewhere(&value_streams<false>, here, other);
}

task<void> reads_from_one_that_leaves(context&, endpoint other) {
  async_generator<int> numbers = other.call_stream<int>(at(waits_long, true));
  const int* const one = co_await numbers.next();
  expect(one && *one == 1, "a value of one that leaves");
  const auto r = co_await as_result(numbers.next());
  expect(r.code() == errc::closed, "a stream ends with the connection");
}
task<void> leaves_in_a_stream(context& here, endpoint other) {
  stream_handlers<true> mine(here);
  co_await mine.asleep.taken.wait();
  other.close();
  co_await other.closed();
  co_await mine.asleep.gone.wait();
}

}  // namespace

CONFORMS("calls: streams of values, both ways", value_streams<true>, value_streams_elsewhere)

TEST_CASE("conformance: calls: the peer leaves in the middle of a stream") {
  const setting how = every_setting();
  if (how.where == place::same_context) return;  // there the two ends are one endpoint
  CAPTURE(how);
  CHECK_NOTHROW(converse(how, &reads_from_one_that_leaves, &leaves_in_a_stream));
}
