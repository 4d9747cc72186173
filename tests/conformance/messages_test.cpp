// SPDX-License-Identifier: Apache-2.0
// The guarantees of messages, over every transport and in every mode.
#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <random>
#include <span>
#include <thread>

#include "conversation.hpp"
#include "one_thread.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;

namespace {

constexpr std::array<std::size_t, 22> sizes{
    0,    1,    8,    20,     21,     43,     44,     45,     63,      64,       1000,
    3072, 3073, 4096, 16'384, 40'001, 65'535, 65'536, 65'537, 300'001, 1u << 20, 8u << 20};

task<void> ping(context&, endpoint other) {
  for (const std::size_t size : sizes) {
    const bytes out = pattern(size, size);
    bytes in(size);
    co_await other.send(out, tag{1}, ~size);
    const received r = co_await other.recv(in, tag{2});
    expect(r.size == size && r.source == other.id() && r.tag == tag{2} && r.immediate == 0,
           "what a receive tells");
    expect(in == out, "a message of " + std::to_string(size) + " bytes comes back as it was");
  }
}
task<void> pong(context&, endpoint other) {
  for (const std::size_t size : sizes) {
    bytes in(size);
    const received r = co_await other.recv(in, tag{1});
    expect(r.immediate == ~size, "the immediate word goes along");
    expect(in == pattern(size, size), "a message of " + std::to_string(size) + " bytes arrives");
    co_await other.send(in, tag{2});
  }
}

/// The receiver has sent nothing, so it has no link to the sender.
constexpr std::array<std::size_t, 3> first_sizes{60'000, 300'000, 3'000'000};
task<void> send_long_first(context&, endpoint other) {
  for (const std::size_t size : first_sizes) {
    const bytes out = pattern(size, 5);
    co_await other.send(out, tag{1});
  }
}
task<void> receive_long_first(context&, endpoint other) {
  for (const std::size_t size : first_sizes) {
    bytes in(size);
    co_await other.recv(in, tag{1});
    expect(in == pattern(size, 5), "a long message is the first one");
  }
}

constexpr int in_order = 500;
task<void> send_in_order(context&, endpoint other) {
  std::vector<bytes> data(in_order);
  scope sends;
  for (std::uint64_t i = 0; i < in_order; ++i) {
    data[i] = pattern(i % 50 == 0 ? 100'000 : i % 200, i);
    sends.start(other.send(data[i], tag{i % 2}));
  }
  co_await sends.join();
}
task<void> receive_in_order(context& here, endpoint other) {
  bytes in(100'000);
  // The odd ones first, then the even ones by a wildcard; each in the order of sending.
  for (int i = 1; i < in_order; i += 2) {
    const received r = co_await other.recv(in, tag{1});
    expect(r.size == static_cast<std::size_t>(i % 200), "messages of one tag arrive in order");
  }
  for (int i = 0; i < in_order; i += 2) {
    const bool big = i % 50 == 0;
    const received r = co_await here.recv(in, i % 4 == 0 ? any_tag : tag_mask(0, 1));
    expect(r.tag == tag{0} && r.source == other.id(), "a wildcard tells what it got");
    const std::size_t size = big ? 100'000 : static_cast<std::size_t>(i % 200);
    expect(r.size == size, "messages by a wildcard arrive in order");
    const bytes out = pattern(size, static_cast<std::uint64_t>(i));
    expect(std::equal(out.begin(), out.end(), in.begin()), "contents of messages by a wildcard");
  }
}

constexpr std::uint64_t many = 2000;
task<void> send_unexpected(context&, endpoint other) {
  std::vector<bytes> data(many);
  scope sends;
  for (std::uint64_t i = 0; i < many; ++i) {
    data[i] = pattern(i % 100 == 0 ? 20'000 : i % 90, i);
    sends.start(other.send(data[i], tag{i}));
  }
  co_await other.send(const_buffer{}, tag{many});
  co_await sends.join();
}
task<void> receive_unexpected(context&, endpoint other) {
  co_await other.recv(mutable_buffer{}, tag{many});
  bytes in(20'000);
  for (std::uint64_t i = many; i-- != 0;) {
    const received r = co_await other.recv(in, tag{i});
    const bytes out = pattern(i % 100 == 0 ? 20'000 : i % 90, i);
    expect(weft::tests::same(out, std::span(in).first(r.size)),
           "an unexpected message keeps its contents");
  }
}

constexpr std::array<std::size_t, 4> listed{0, 100, 50'000, 2'000'000};
task<void> send_gathered(context&, endpoint other) {
  for (const std::size_t size : listed) {
    const bytes out = pattern(size, 3);
    const const_buffer all(out);
    const std::array<const_buffer, 5> list{all.first(size / 7), const_buffer{},
                                           all.subspan(size / 7, size / 3),
                                           all.subspan(size / 7 + size / 3), const_buffer{}};
    co_await other.send(std::span<const const_buffer>(list), tag{1});
  }
}
task<void> receive_scattered(context&, endpoint other) {
  for (const std::size_t size : listed) {
    bytes in(size);
    const mutable_buffer all(in);
    const std::array<mutable_buffer, 4> list{mutable_buffer{}, all.first(size / 2 + size % 2),
                                             mutable_buffer{}, all.subspan(size / 2 + size % 2)};
    const received r = co_await other.recv(std::span<const mutable_buffer>(list), tag{1});
    expect(r.size == size, "the size of a scattered message");
    expect(in == pattern(size, 3), "a message is gathered and scattered");
  }
}

constexpr std::array<std::size_t, 4> cut{10, 3000, 60'000, 1'000'000};
task<void> send_too_much(context&, endpoint other) {
  for (const std::size_t size : cut) {
    const bytes out = pattern(size, size);
    co_await other.send(out, tag{1});
    co_await other.send(out, tag{2});
  }
}
task<void> receive_too_little(context&, endpoint other) {
  for (const std::size_t size : cut) {
    bytes in(size / 2, std::byte{1});
    const auto r = co_await as_result(other.recv(in, tag{1}));
    expect(r.code() == errc::truncated, "a message that is too long is truncated");
    const bytes out = pattern(size, size);
    expect(std::equal(in.begin(), in.end(), out.begin()), "the buffer holds its beginning");
    const received ahead = co_await other.probe(tag{2});
    expect(ahead.size == size && ahead.tag == tag{2}, "a probe tells the size");
    expect(other.try_probe(tag{2}).has_value(), "a probe leaves the message");
    expect(!other.try_probe(tag{3}), "try_probe finds nothing where nothing is");
    bytes all(ahead.size);
    co_await other.recv(all, tag{2});
    expect(all == out, "what was probed is received");
  }
}

task<void> wait_in_vain(context& here, endpoint other) {
  bytes in(100);
  using namespace std::chrono_literals;
  expect(co_await outcome(within(1ms, other.recv(in, tag{50}))) == errc::timed_out,
         "a deadline ends a receive");
  expect(co_await outcome(within(1ms, here.probe(tag{50}))) == errc::timed_out,
         "a deadline ends a probe");
  std::stop_source stop;
  scope both_of_them;
  errc ended = errc::ok;
  both_of_them.start(outcome(stoppable(stop.get_token(), other.recv(in, tag{51}))),
                     [&](errc e) { ended = e; });
  stop.request_stop();
  co_await both_of_them.join();
  expect(ended == errc::stopped, "a stop token ends a receive");
  // Nothing of these operations is left in the way.
  co_await other.send(const_buffer{}, tag{1});
  co_await other.recv(in, tag{2});
}
task<void> answer_once(context&, endpoint other) {
  bytes in(100);
  co_await other.recv(in, tag{1});
  co_await other.send(const_buffer{}, tag{2});
}

constexpr std::size_t long_one = 2u << 20;
constexpr int long_ones = 6;

task<void> send_long_ones(context&, endpoint other) {
  const bytes out = pattern(long_one, 3);
  bytes in(1);
  for (int i = 0; i < long_ones; ++i) {
    scope both;
    both.start(other.send(out, tag{1}));
    both.start(other.send(out, tag{2}));
    co_await other.recv(in, tag{3});
    co_await both.join();
  }
}
/// The deadline comes at any point of a message's arrival.
task<void> receive_in_haste(context&, endpoint other) {
  const bytes out = pattern(long_one, 3);
  const bytes mark(long_one, std::byte{0xee});
  bytes in(long_one), next(long_one);
  for (int i = 0; i < long_ones; ++i) {
    const errc end =
        co_await outcome(within(std::chrono::microseconds(i * 50), other.recv(in, tag{1})));
    expect(end == errc::ok || end == errc::timed_out, "a deadline ends a receive, or is too late");
    if (end == errc::ok) expect(in == out, "a message that was received is whole");
    in = mark;
    co_await other.recv(next, tag{2});
    expect(next == out, "the message after one that was stopped is whole");
    expect(in == mark, "a buffer is left alone after its receive was stopped");
    // A receive that was stopped before its message had come left the message in the queue.
    while (other.try_probe(tag{1})) co_await other.recv(next, tag{1});
    co_await other.send(const_buffer{}, tag{3});
  }
}

task<void> send_synchronously(context&, endpoint other) {
  for (const std::size_t size : sizes) {
    const bytes out = pattern(size, 9);
    bytes in(1);
    scope both_ways;
    bool matched = false;
    both_ways.start(other.send_synchronous(out, tag{1}), [&] { matched = true; });
    co_await other.send(const_buffer{}, tag{2});
    co_await other.recv(in, tag{3});
    expect(!matched, "a synchronous send waits for its receive");
    co_await other.send(const_buffer{}, tag{4});
    co_await both_ways.join();
    expect(matched, "and ends with it");
  }
}
task<void> receive_late(context&, endpoint other) {
  for (const std::size_t size : sizes) {
    bytes in(size);
    co_await other.recv(mutable_buffer{}, tag{2});
    co_await other.send(const_buffer{}, tag{3});
    co_await other.recv(mutable_buffer{}, tag{4});
    co_await other.recv(in, tag{1});
    expect(in == pattern(size, 9), "a synchronous message arrives");
  }
}

task<void> flood(endpoint other, std::uint64_t own, std::uint64_t theirs) {
  constexpr std::uint64_t count = 150;
  const auto size_of = [](std::uint64_t i) {
    return i % 10 == 0 ? std::size_t{400'000} : std::size_t{i * 400};
  };
  std::vector<bytes> out(count), in(count);
  scope all;
  for (std::uint64_t i = 0; i < count; ++i) {
    out[i] = pattern(size_of(i), i + own);
    in[i].resize(size_of(i));
    all.start(other.send(out[i], tag{own + i}));
    if (i % 2 == 0) all.start(other.recv(in[i], tag{theirs + i}));
  }
  for (std::uint64_t i = 1; i < count; i += 2) all.start(other.recv(in[i], tag{theirs + i}));
  co_await all.join();
  for (std::uint64_t i = 0; i < count; ++i)
    expect(in[i] == pattern(size_of(i), i + theirs), "a message of the flood arrives whole");
}
task<void> flood_left(context&, endpoint other) { return flood(other, 1000, 2000); }
task<void> flood_right(context&, endpoint other) { return flood(other, 2000, 1000); }

task<void> talk_in_turns(endpoint other, std::uint64_t t, bool first) {
  bytes in(30'000);
  const bytes out = pattern(30'000, t);
  for (int i = 0; i < 20; ++i) {
    if (first) co_await other.send(out, tag{t});
    co_await other.recv(in, tag{t + (first ? 1 : 0)});
    expect(in == pattern(30'000, first ? t : t), "tasks do not get into each other's way");
    if (!first) co_await other.send(out, tag{t + 1});
  }
}
task<void> many_tasks(endpoint other, bool first) {
  scope tasks;
  for (std::uint64_t t = 0; t < 40; t += 2) tasks.start(talk_in_turns(other, 100 + t, first));
  co_await tasks.join();
}
task<void> many_tasks_left(context&, endpoint other) { return many_tasks(other, true); }
task<void> many_tasks_right(context&, endpoint other) { return many_tasks(other, false); }

task<void> ping_elsewhere(context& here, endpoint other) { return elsewhere(&ping, here, other); }
task<void> pong_elsewhere(context& here, endpoint other) { return elsewhere(&pong, here, other); }

// The thread inside run() sleeps, and another thread posts operations that end at once.
task<void> send_for_later(context&, endpoint other) {
  const bytes out = pattern(long_one, 7);
  scope work;
  work.start(other.send(out, tag{1}));
  co_await other.send(const_buffer{}, tag{2});
  co_await work.join();
}
task<void> receive_while_home_sleeps(context&, endpoint other) {
  bytes in(long_one);
  co_await other.recv(mutable_buffer{}, tag{2});
  // The sleep of the caller cannot be observed. If it does not sleep yet, this shows less, and does
  // not fail.
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  co_await other.recv(in, tag{1});
  expect(in == pattern(long_one, 7), "a message that came long ago is whole");
}
task<void> receive_elsewhere(context& here, endpoint other) {
  return elsewhere(&receive_while_home_sleeps, here, other);
}

task<void> send_from_shared(context& here, endpoint other) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{100'000}, std::size_t{3'000'000}}) {
    shared_memory memory(here, size);
    const bytes out = pattern(size, 4);
    std::copy(out.begin(), out.end(), memory.bytes().begin());
    for (int i = 0; i < 3; ++i) co_await other.send(memory.bytes(), tag{1});
    co_await other.recv(mutable_buffer{}, tag{2});  // after that no thread reads there any more
  }
}
task<void> receive_from_shared(context&, endpoint other) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{100'000}, std::size_t{3'000'000}}) {
    for (int i = 0; i < 3; ++i) {
      bytes in(size);
      co_await other.recv(in, tag{1});
      expect(in == pattern(size, 4), "a message out of shared memory arrives");
    }
    co_await other.send(const_buffer{}, tag{2});
  }
}

}  // namespace

CONFORMS("messages of every size come back as they were", ping, pong)
CONFORMS("long messages to a side that has sent nothing", send_long_first, receive_long_first)
CONFORMS("order per tag and wildcards", send_in_order, receive_in_order)
CONFORMS("thousands of unexpected messages", send_unexpected, receive_unexpected)
CONFORMS("lists of buffers", send_gathered, receive_scattered)
CONFORMS("truncation and probes", send_too_much, receive_too_little)
CONFORMS("deadlines and stop tokens", wait_in_vain, answer_once)
CONFORMS("receives that are stopped while their message arrives", send_long_ones, receive_in_haste)
CONFORMS("synchronous sends", send_synchronously, receive_late)
CONFORMS("many in flight both ways at once", flood_left, flood_right)
CONFORMS("several tasks at once", many_tasks_left, many_tasks_right)
CONFORMS("coroutines that live on threads of their own", ping_elsewhere, pong_elsewhere)
CONFORMS("posted elsewhere while the caller sleeps", send_for_later, receive_elsewhere)

TEST_CASE("conformance: out of shared memory") {
  const setting how = every_setting();
  if (how.transport != std::string("shm")) return;  // only shm allocates it
  CAPTURE(how);
  CHECK_NOTHROW(converse(how, &send_from_shared, &receive_from_shared));
}
