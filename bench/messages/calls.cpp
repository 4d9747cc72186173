// SPDX-License-Identifier: Apache-2.0
// Calls beside messages there and back: the reply comes from an inline handler, or from a handler's
// coroutine; one call at a time, or several outstanding. In turns in the same pair of processes.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "commands.hpp"
#include "messages/calls.hpp"
#include "output/stats.hpp"
#include "serve/served_side.hpp"
#include "stage/launcher.hpp"
#include "support/clock.hpp"
#include "support/job.hpp"
#include "support/pattern.hpp"
#include "support/plan.hpp"

namespace weft::bench::calls_command {
namespace {

enum way : std::size_t {
  messages,
  inline_way,
  coroutine,
  typed,
  inline_at_once,
  coroutine_at_once,
  way_count
};
constexpr std::array<const char*, way_count> names{"messages", "inline",       "coroutine",
                                                   "typed",    "inline, many", "coroutine, many"};
constexpr std::array<am, way_count> numbers{am{0}, am{1}, am{2}, am{3}, am{1}, am{2}};
constexpr std::size_t longest_inline = 8 << 10;
constexpr std::size_t longest_of_many = 1 << 10;

bool is_one_of_many(way by) { return by == inline_at_once || by == coroutine_at_once; }

/// Microseconds of a round trip, at rank 0.
task<double> ask(const side& me, way by, std::size_t size, std::size_t count) {
  const endpoint peer = me.peer;
  heap_buffers out(1, size), in(1, size);
  const std::span<std::byte> from = out.next(), into = in.next();
  fill(from, 1);
  co_await barrier(me);
  const auto start = now_ns();
  for (std::size_t i = 0; i != count; ++i) {
    if (by == messages) {
      co_await peer.send(from, data_tag);
      co_await peer.recv(into, data_tag);
    } else if (by == typed) {
      const std::uint64_t next = co_await peer.call<std::uint64_t>(numbers[by], i);
      if (next != i + 1) throw std::runtime_error("a call came back with another value");
    } else {
      co_await peer.call(numbers[by], from, into);
    }
  }
  const double each = us_between(start, now_ns()) / static_cast<double>(count);
  if (by != typed) verify(into, 1);
  co_await peer.send(const_buffer{}, sync_tag);
  co_return each;
}

task<void> call_again(endpoint peer, am number, std::size_t size, std::size_t count) {
  heap_buffers out(1, size), in(1, size);
  const std::span<std::byte> from = out.next(), into = in.next();
  fill(from, 1);
  for (std::size_t i = 0; i != count; ++i) co_await peer.call(number, from, into);
  verify(into, 1);
}

/// Microseconds of each call while several are outstanding, at rank 0.
task<double> ask_many(const side& me, way by, std::size_t size, std::size_t outstanding,
                      std::size_t each) {
  co_await barrier(me);
  scope all;
  const auto start = now_ns();
  for (std::size_t i = 0; i != outstanding; ++i)
    all.start(call_again(me.peer, numbers[by], size, each));
  co_await all.join();
  const double us = us_between(start, now_ns()) / static_cast<double>(each * outstanding);
  co_await me.peer.send(const_buffer{}, sync_tag);
  co_return us;
}

/// Rank 1, in one turn.
task<void> answer(const side& me, way by, std::size_t size, std::size_t count) {
  const endpoint peer = me.peer;
  heap_buffers in(1, size);
  const std::span<std::byte> box = in.next();
  co_await barrier(me);
  if (by == messages)
    for (std::size_t i = 0; i != count; ++i) {
      co_await peer.recv(box, data_tag);
      co_await peer.send(box, data_tag);
    }
  co_await peer.recv(mutable_buffer{}, sync_tag);
}

std::size_t echo_at_once(const inline_call& c) {
  std::copy(c.data.begin(), c.data.end(), c.room.begin());
  return c.data.size();
}

bool takes(way by, std::size_t size) {
  if (is_one_of_many(by)) return size <= longest_of_many;
  if (by == inline_way) return size <= longest_inline;
  return by != typed || size == sizeof(std::uint64_t);
}

task<void> measure(const side& me, const request& wanted, std::size_t size, report& out) {
  std::array<std::vector<double>, way_count> of;
  co_await take_turns(wanted.rounds, way_count, [&](std::size_t n, bool counts) -> task<void> {
    const auto by = static_cast<way>(n);
    if (!takes(by, size)) co_return;
    const std::size_t callers = is_one_of_many(by) ? wanted.outstanding : 1;
    const std::size_t each = calls_of_each(callers, size, wanted.effort);
    if (me.rank == 1) co_return co_await answer(me, by, size, each);
    double us = 0;
    if (is_one_of_many(by))
      us = co_await ask_many(me, by, size, callers, each);
    else
      us = co_await ask(me, by, size, each);
    if (counts) of[by].push_back(us);
  });
  for (std::size_t by = 0; by != way_count && me.rank == 0; ++by) {
    if (of[by].empty()) continue;
    auto line = make_line(head_of("calls", wanted.chosen, size), "us", of[by]);
    line["by"] = names[by];
    line["to_messages"] = median_ratio(of[by], of[messages]);
    line["million_per_s"] = 1 / median(of[by]);
    out.add(line);
  }
}

task<void> act(side& me, const request& wanted) {
  // The handlers that run at once write the same bytes: each reply leaves before the next begins.
  std::vector<std::byte> memory(*std::max_element(wanted.sizes.begin(), wanted.sizes.end()));
  const handler at_once = me.ctx.on_inline(numbers[inline_way], &echo_at_once);
  const handler task_by_task = me.ctx.on(numbers[coroutine], [&memory](call c) -> task<void> {
    const mutable_buffer body = mutable_buffer(memory).first(c.size());
    co_await c.recv(body);
    co_await c.reply(body);
  });
  const handler values = me.ctx.on<std::uint64_t(std::uint64_t)>(
      numbers[typed], [](std::uint64_t n) { return n + 1; });
  const std::vector<column> columns{{"size", "size"},
                                    {"", "by"},
                                    {"µs each", "us"},
                                    {"× messages", "to_messages"},
                                    {"million/s", "million_per_s"}};
  co_await with_report(me, wanted.chosen, columns, [&](report& out) -> task<void> {
    for (const std::size_t size : wanted.sizes) co_await measure(me, wanted, size, out);
  });
}

void compare(request& wanted) {
  if (wanted.peers) {
    if (served_line()) throw std::runtime_error("--peers is for one host");
    refuse_launcher("calls --peers");
    return beside_peers(wanted);
  }
  if (wanted.sizes.empty())
    wanted.sizes = {8, 64, 1 << 10, 4 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20};
  if (wanted.rounds == 0) wanted.rounds = 21;
  on_stage("calls", wanted.chosen, false, [&](side& me) { return act(me, wanted); });
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto& sub = add_turns_command(
      app, "calls", "Calls of an inline handler and of a coroutine beside messages there and back",
      wanted, &act);
  add_sizes(sub, wanted->sizes, "Calls")->check(CLI::PositiveNumber);
  auto* const peers =
      sub.add_flag("--peers", wanted->peers,
                   "Over shm and tcp, beside calls by Asio, Cap'n Proto and gRPC over TCP, in "
                   "rounds of short runs; those that the build did not find are left out");
  sub.add_option("--outstanding", wanted->outstanding, "Calls under way at once, where many are")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  sub.add_option("--effort", wanted->effort, "Factor on the number of calls")
      ->check(CLI::PositiveNumber);
  for (const char* of_one_pair : {"--transport", "--no-pin", "--to"})
    peers->excludes(sub.get_option(of_one_pair));
  sub.callback([wanted] { compare(*wanted); });
}

}  // namespace weft::bench::calls_command
