// SPDX-License-Identifier: Apache-2.0
// Values as messages, over every transport and in every mode.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "conversation.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;

namespace {

struct particle {
  double x = 0;
  std::uint32_t id = 0;
  friend bool operator==(const particle&, const particle&) = default;
};
struct no_default {
  explicit no_default(int v) : n(v) {}
  int n;
};

constexpr tag value_tag{1};
constexpr tag ready_tag{2};

std::vector<particle> particles(std::size_t n) {
  std::vector<particle> all(n);
  for (std::uint32_t i = 0; i != n; ++i) all[i] = {i * 0.5, i};
  return all;
}

/// Sizes below and above all limits of transports.
constexpr std::array<std::size_t, 7> particle_counts{0, 1, 3, 500, 1000, 8000, 70'000};

// --- every form there and back --------------------------------------------------------------

task<void> send_forms(context&, endpoint other) {
  const particle p{1.5, 7};
  const std::array<std::uint16_t, 3> three{1, 2, 3};
  const std::pair<int, double> pair(4, 0.25);
  const std::tuple<char, std::uint64_t> tuple('c', 9);
  co_await other.send_value(value_tag, p);
  co_await other.send_value(value_tag, 42);
  co_await other.send_value(value_tag, no_default(5));
  co_await other.send_value(value_tag, three);
  co_await other.send_value(value_tag, pair);
  co_await other.send_value(value_tag, tuple);
  co_await other.send_value(value_tag, std::string_view("a view"));
  co_await other.send_value(value_tag, std::string(100'000, 'x'));
  co_await other.send_value(value_tag, std::span(three).last(2));
  for (const std::size_t n : particle_counts) {
    const std::vector<particle> all = particles(n);
    co_await other.send_value(value_tag, all);
    co_await other.send_value(value_tag, particles(n));
  }
}
task<void> receive_forms(context&, endpoint other) {
  expect(co_await other.recv_value<particle>(value_tag) == particle{1.5, 7}, "a structure");
  expect(co_await other.recv_value<int>(value_tag) == 42, "a temporary");
  const no_default n = co_await other.recv_value<no_default>(value_tag);
  expect(n.n == 5, "a type without default constructor");
  const auto three = co_await other.recv_value<std::array<std::uint16_t, 3>>(value_tag);
  expect(three == std::array<std::uint16_t, 3>{1, 2, 3}, "an array");
  const auto pair = co_await other.recv_value<std::pair<int, double>>(value_tag);
  expect(pair == std::pair(4, 0.25), "a pair");
  const auto tuple = co_await other.recv_value<std::tuple<char, std::uint64_t>>(value_tag);
  expect(tuple == std::tuple('c', std::uint64_t{9}), "a tuple");
  const auto text = co_await other.recv_value<std::string>(value_tag);
  expect(text == "a view", "a string from a view");
  const auto longer = co_await other.recv_value<std::string>(value_tag);
  expect(longer == std::string(100'000, 'x'), "a long string");
  const auto two = co_await other.recv_value<std::vector<std::uint16_t>>(value_tag);
  expect(two == std::vector<std::uint16_t>{2, 3}, "a vector from a span");
  for (const std::size_t count : particle_counts)
    for (int i = 0; i != 2; ++i) {
      const auto all = co_await other.recv_value<std::vector<particle>>(value_tag);
      expect(all == particles(count), std::to_string(count) + " elements");
    }
}

// --- receives that wait ------------------------------------------------------------------------

/// Values of all sizes meet receives that were posted before.
task<void> send_when_ready(context&, endpoint other) {
  for (const std::size_t n : particle_counts) {
    const std::vector<particle> all = particles(n);
    co_await other.recv_value<int>(ready_tag);
    scope fly;
    fly.start(other.send_value(value_tag, all));
    fly.start(other.send_value(value_tag, std::uint64_t{n}));
    fly.start(other.send_value(value_tag, particles(n)));
    co_await fly.join();
  }
}
task<void> receive_posted(context&, endpoint other) {
  std::vector<particle> reused;
  for (const std::size_t n : particle_counts) {
    std::vector<particle> used;
    std::uint64_t count = ~std::uint64_t{0};
    scope fly;
    fly.start(other.recv_value<std::vector<particle>>(value_tag),
              [&](std::vector<particle> v) { used = std::move(v); });
    fly.start(other.recv_value<std::uint64_t>(value_tag), [&](std::uint64_t c) { count = c; });
    fly.start(other.recv_value(value_tag, reused));
    co_await other.send_value(ready_tag, 0);
    co_await fly.join();
    expect(used == particles(n) && count == n && reused == particles(n),
           std::to_string(n) + " elements to receives that waited");
  }
}

// --- into existing objects -----------------------------------------------------------------------

task<void> send_to_existing(context&, endpoint other) {
  co_await other.send_value(value_tag, particles(10));
  co_await other.send_value(value_tag, particles(4));
  co_await other.send_value(value_tag, particles(20'000));
  co_await other.send_value(value_tag, particles(5));
  co_await other.send_value(value_tag, particle{0.5, 3});
  co_await other.send_value(value_tag, std::string_view("short"));
}
task<void> receive_in_existing(context&, endpoint other) {
  std::vector<particle> v = particles(20'000);
  const particle* const memory = v.data();
  for (const std::size_t n : {std::size_t{10}, std::size_t{4}, std::size_t{20'000}}) {
    const received about = co_await other.recv_value(value_tag, v);
    expect(v == particles(n) && v.data() == memory, "a vector keeps its memory");
    expect(
        about.size == n * sizeof(particle) && about.source == other.id() && about.tag == value_tag,
        "what the receive tells");
  }
  std::array<particle, 5> five;
  co_await other.recv_value(value_tag, std::span(five));
  expect(std::ranges::equal(five, particles(5)), "a span that fits");
  particle one;
  co_await other.recv_value(value_tag, one);
  expect(one == particle{0.5, 3}, "an object");
  std::string text(50, 'x');
  co_await other.recv_value(value_tag, text);
  expect(text == "short", "a string gets the length of the message");
}

// --- any source ----------------------------------------------------------------------------------

task<void> send_to_any(context&, endpoint other) {
  co_await other.send_value(value_tag, 1.25);
  co_await other.send_value(value_tag, particles(3000));
}
task<void> receive_from_any(context& here, endpoint other) {
  const auto [value, about] = co_await here.recv_value_from<double>(any_tag);
  expect(value == 1.25 && about.source == other.id() && about.tag == value_tag, "from any source");
  const auto [v, more] = co_await here.recv_value_from<std::vector<particle>>(any_tag);
  expect(v == particles(3000) && more.source == other.id(), "a vector from any source");
}

// --- messages of another size ----------------------------------------------------------------

/// Sizes of messages that are no value of 16 bytes, with the error and its text.
struct misfit {
  std::size_t size;
  errc status;
};
constexpr std::array<misfit, 6> misfits{{{0, errc::protocol_error},
                                         {15, errc::protocol_error},
                                         {17, errc::truncated},
                                         {9000, errc::truncated},
                                         {100'000, errc::truncated},
                                         {1'000'000, errc::truncated}}};

bool names_both(const result<particle>& r, std::size_t size) {
  const std::string said = r.failure().what();
  return said.find("message of " + std::to_string(size) + " bytes") != std::string::npos &&
         said.find("16 bytes") != std::string::npos;
}

task<void> send_misfits(context&, endpoint other) {
  for (const misfit& m : misfits) {
    const bytes data = pattern(m.size, 1);
    for (int i = 0; i != 3; ++i) co_await other.send(data, value_tag);
  }
  co_await other.send_value(value_tag, particle{2, 2});
}
task<void> receive_misfits(context&, endpoint other) {
  static_assert(sizeof(particle) == 16);
  for (const misfit& m : misfits) {
    const auto fixed = co_await as_result(other.recv_value<particle>(value_tag));
    expect(fixed.code() == m.status && names_both(fixed, m.size), "both sizes are named");
    const bool whole = m.size % sizeof(particle) == 0;
    const auto some = co_await as_result(other.recv_value<std::vector<particle>>(value_tag));
    expect(some.code() == (whole ? errc::ok : errc::protocol_error),
           "a message of " + std::to_string(m.size) + " bytes, received as elements of 16");
    if (!whole)
      expect(std::string(some.failure().what()).find("16 bytes") != std::string::npos,
             "the element's size is named");
    const auto bounded =
        co_await as_result(other.recv_value<std::vector<std::byte>>(value_tag, at_most{16}));
    expect(bounded.code() == (m.size > 16 ? errc::truncated : errc::ok), "the bound holds");
  }
  const particle after = co_await other.recv_value<particle>(value_tag);
  expect(after == particle{2, 2}, "later messages are received as ever");
}

/// The same for receives that were posted before.
task<void> send_misfits_when_ready(context&, endpoint other) {
  for (const misfit& m : misfits) {
    const bytes data = pattern(m.size, 1);
    co_await other.recv_value<int>(ready_tag);
    scope fly;
    for (int i = 0; i != 2; ++i) fly.start(other.send(data, value_tag));
    co_await fly.join();
  }
}
task<void> keep_code(endpoint other, at_most limit, errc& code) {
  const auto r = co_await as_result(other.recv_value<std::vector<std::byte>>(value_tag, limit));
  code = r.code();
}
task<void> keep_code_of_fixed(endpoint other, errc& code) {
  const auto r = co_await as_result(other.recv_value<particle>(value_tag));
  code = r.code();
}
task<void> receive_misfits_posted(context&, endpoint other) {
  for (const misfit& m : misfits) {
    errc bounded = errc::system, fixed = errc::system;
    scope fly;
    fly.start(keep_code(other, {16}, bounded));
    fly.start(keep_code_of_fixed(other, fixed));
    co_await other.send_value(ready_tag, 0);
    co_await fly.join();
    expect(bounded == (m.size > 16 ? errc::truncated : errc::ok) && fixed == m.status,
           "a misfit of " + std::to_string(m.size) + " bytes for a receive that waited");
  }
}

// --- stops ---------------------------------------------------------------------------------------

task<void> send_after_stop(context&, endpoint other) {
  co_await other.recv_value<int>(ready_tag);
  co_await other.send_value(value_tag, particles(100));
}
task<void> stop_a_receive(context&, endpoint other) {
  using namespace std::chrono_literals;
  expect(co_await outcome(within(1ms, other.recv_value<std::vector<particle>>(value_tag))) ==
             errc::timed_out,
         "a receive of a vector has a deadline");
  expect(co_await outcome(within(1ms, other.recv_value<int>(value_tag))) == errc::timed_out,
         "and one of a number");
  co_await other.send_value(ready_tag, 0);
  expect(co_await other.recv_value<std::vector<particle>>(value_tag) == particles(100),
         "the next receive gets the message");
}

// --- typed memory ------------------------------------------------------------------------------

constexpr std::size_t board_size = 1000;

task<void> use_board(context&, endpoint owner) {
  const auto words = co_await owner.recv_value<remote_region_of<std::uint64_t>>(value_tag);
  const auto cells = co_await owner.recv_value<remote_region_of<particle>>(value_tag);
  expect(words.size() == 16 && cells.size() == board_size, "a remote region knows its elements");
  const std::uint64_t before = co_await owner.fetch_add(words[3], 5);
  const std::uint64_t found = co_await owner.compare_swap(words[3], before + 5, 77);
  expect(before == 30 && found == 35, "atomics on an element");
  const std::vector<particle> all = particles(board_size);
  co_await owner.put(all, cells);
  std::vector<particle> some(4);
  co_await owner.get(some, cells.part(10, 4));
  expect(some == std::vector(all.begin() + 10, all.begin() + 14), "get of a part");
  co_await owner.put(some[0], cells[0]);
  const particle first = co_await owner.get(cells[0]);
  expect(first == some[0], "put and get of one element");
  scope puts;
  puts.start(owner.put(42, words[5]));
  co_await puts.join();
  const std::uint64_t word = co_await owner.load(words[5]);
  expect(word == 42, "a put keeps its value, and a word is loaded");
  co_await owner.put(some[0], cells[board_size - 1], notify{6});
  bool refused = false;
  try {
    static_cast<void>(cells.part(board_size - 1, 2));
  } catch (const error& e) {
    refused = e.kind() == errc::invalid_argument;
  }
  expect(refused, "a part beyond the end");
  co_await owner.recv_value<int>(ready_tag);
}
task<void> own_board(context& here, endpoint other) {
  region_of<std::uint64_t> words(here, 16);
  std::vector<particle> memory(board_size);
  region_of<particle> cells(here, std::span(memory));
  words[3] = 30;
  co_await other.send_value(value_tag, words.remote());
  co_await other.send_value(value_tag, cells.remote());
  const notification n = co_await cells.notified();
  expect(n.value == 6 && words[3] == 77 && words[2] == 0, "the owner sees the updates");
  expect(memory.back() == particle{5, 10} && memory[11] == particle{5.5, 11}, "and the elements");
  co_await other.send_value(ready_tag, 0);
}

}  // namespace

CONFORMS("values of every form", send_forms, receive_forms)
CONFORMS("values to receives that wait", send_when_ready, receive_posted)
CONFORMS("values into existing objects", send_to_existing, receive_in_existing)
CONFORMS("values from any source", send_to_any, receive_from_any)
CONFORMS("messages that are no value of the type", send_misfits, receive_misfits)
CONFORMS("messages that are no value, to receives that wait", send_misfits_when_ready,
         receive_misfits_posted)
CONFORMS("a receive of a value is stopped", send_after_stop, stop_a_receive)
CONFORMS("regions of elements", use_board, own_board)
