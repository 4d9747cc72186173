// SPDX-License-Identifier: Apache-2.0
// Reads of streams that know what they wait for: a number of bytes, a line, a value.
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conversation.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;
using namespace std::chrono_literals;

namespace {

struct table {
  std::map<std::uint32_t, std::string> rows;
};

const_buffer bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

task<void> end_both(stream& s) {
  s.close();
  co_await s.closed();
}

}  // namespace

template <>
struct weft::wire<table> {
  static void put(sink& to, const table& t) {
    to << std::uint64_t{t.rows.size()};
    for (const auto& [key, text] : t.rows) to << key << text;
  }
  static table get(source& from) {
    table t;
    for (auto n = from.get<std::uint64_t>(); n != 0; --n) {
      const auto key = from.get<std::uint32_t>();
      t.rows[key] = from.get<std::string>();
    }
    return t;
  }
};

namespace {

// --- read_exactly --------------------------------------------------------------------------------

constexpr std::size_t evenly = 3u << 20;

task<void> write_unevenly(context&, endpoint other) {
  stream s(other, 1);
  const bytes all = pattern(evenly + 5, 3);
  for (std::size_t at = 0, n = 1; at != all.size(); n = n * 3 % 400'009) {
    const std::size_t length = std::min(n, all.size() - at);
    co_await s.write(const_buffer(all).subspan(at, length));
    at += length;
  }
  s.finish();
  co_await end_both(s);
}
task<void> read_evenly(context&, endpoint other) {
  stream s(other, 1);
  const bytes all = pattern(evenly + 5, 3);
  bytes got(all.size() - 5);
  std::array<std::byte, 3> first;
  const std::array<mutable_buffer, 2> list{mutable_buffer(first), mutable_buffer(got).first(97)};
  co_await s.read_exactly(std::span<const mutable_buffer>(list));
  expect(std::memcmp(first.data(), all.data(), 3) == 0, "a list is filled");
  expect(std::memcmp(got.data(), all.data() + 3, 97) == 0, "all of it");
  co_await s.read_exactly(mutable_buffer(got).subspan(100));
  expect(std::memcmp(got.data() + 100, all.data() + 100, got.size() - 100) == 0, "as written");
  const auto in_the_middle = co_await as_result(s.read_exactly(mutable_buffer(got).first(8)));
  expect(in_the_middle.code() == errc::protocol_error, "the end in the middle");
  expect(std::string(in_the_middle.failure().what()).find("5 of 8 bytes") != std::string::npos,
         in_the_middle.failure().what());
  const auto at_the_end = co_await as_result(s.read_exactly(mutable_buffer(got).first(8)));
  expect(at_the_end.code() == errc::closed, "the end in front of the first byte");
  co_await s.read_exactly(mutable_buffer{});
  co_await end_both(s);
}

task<void> write_slowly(context&, endpoint other) {
  stream s(other, 1);
  const bytes all = pattern(200'000, 4);
  for (std::size_t at = 0; at != all.size(); at += 1000) {
    co_await s.write(const_buffer(all).subspan(at, 1000));
    if (at % 10'000 == 0) co_await sleep_for(300us);
  }
  s.finish();
  co_await end_both(s);
}
task<void> read_with_deadlines(context&, endpoint other) {
  stream s(other, 1);
  const bytes all = pattern(200'000, 4);
  bytes got(all.size());
  int late = 0;
  for (std::size_t at = 0; at != all.size();) {
    const std::uint64_t before = s.bytes_read();
    const errc how =
        co_await outcome(within(late % 2 * 200us, s.read_exactly(mutable_buffer(got).subspan(at))));
    expect(how == errc::ok || how == errc::timed_out, "a read ends or is too late");
    late += how == errc::timed_out;
    at += static_cast<std::size_t>(s.bytes_read() - before);
    expect(how != errc::ok || at == all.size(), "what ends well has filled its memory");
  }
  expect(got == all, "what a stopped read has read counts");
  co_await end_both(s);
}

// --- read_until ----------------------------------------------------------------------------------

task<void> write_lines(context&, endpoint other) {
  stream s(other, 2);
  // Delimiters fall into the middle of messages, and between two.
  const std::array<std::string_view, 6> parts{"one\r\ntw", "o\r",       "\n\r\n",
                                              "\r",        "x\r\nrest", " and a value:"};
  for (const std::string_view part : parts) co_await s.write(bytes_of(part));
  co_await s.write_value(42);
  const std::string long_line(5000, 'y');
  co_await s.write(bytes_of(long_line));
  co_await s.write(bytes_of("\nno delimiter"));
  s.finish();
  co_await end_both(s);
}
task<void> read_lines(context&, endpoint other) {
  stream s(other, 2);
  std::string line = "former content";
  co_await s.read_until(line, "\r\n");
  expect(line == "one", line);
  co_await s.read_until(line, "\r\n");
  expect(line == "two", "a delimiter between two messages: " + line);
  expect((co_await s.read_until("\r\n")).empty(), "an empty line");
  expect(co_await s.read_until("\r\n") == "\rx", "half a delimiter in front of one");

  std::array<char, 4> rest;
  co_await s.read_exactly(std::as_writable_bytes(std::span(rest)));
  expect(std::string_view(rest.data(), 4) == "rest", "bytes behind a line stay");
  co_await s.read_until(line, ":");
  expect(line == " and a value", line);
  expect(co_await s.read_value<int>() == 42, "a value behind a line");

  const auto too_long = co_await as_result(s.read_until("\n", at_most{4999}));
  expect(too_long.code() == errc::truncated, "a line has a bound");
  expect((co_await s.read_until("\n", at_most{5000})).size() == 5000, "and is left whole");
  expect(co_await outcome(s.read_until("")) == errc::invalid_argument, "no delimiter");
  const auto unended = co_await as_result(s.read_until("\n"));
  expect(unended.code() == errc::protocol_error, "the end in the middle of a line");
  std::array<std::byte, 100> left;
  const std::uint64_t before = s.bytes_read();
  const std::size_t n = co_await s.read(left);
  expect(n == 12 && s.bytes_read() == before + 12, "what is no line is left to other reads");
  expect(co_await outcome(s.read_until("\n")) == errc::closed, "the end in front of a line");
  expect(co_await s.read(left) == 0 && s.try_read(left).code() == errc::closed, "and of others");
  co_await end_both(s);
}

// --- values --------------------------------------------------------------------------------------

table some_table(std::uint32_t rows) {
  table t;
  for (std::uint32_t i = 0; i != rows; ++i) t.rows[i] = std::string(i % 50, 'a');
  return t;
}
const std::vector<double>& many_numbers() {
  static const std::vector<double> all(300'000, 1.5);
  return all;
}

task<void> write_values(context&, endpoint other) {
  stream s(other, 3);
  for (int i = 0; i != 1000; ++i) co_await s.write_value(i);
  const std::string name = "a name";
  co_await s.write_value(name);
  co_await s.write_value(std::string());
  co_await s.write_value(many_numbers());
  co_await s.write_value(std::span<const double>(many_numbers()).first(3));
  co_await s.write_value(some_table(20'000));
  std::vector<std::string> words{"x", "", "zz"};
  co_await s.write_value(std::move(words));
  co_await s.write_value(std::string("not an int"));
  co_await s.write_value(some_table(1));
  co_await s.write_value(7);
  s.finish();
  co_await end_both(s);
}
task<void> read_values(context&, endpoint other) {
  stream s(other, 3);
  for (int i = 0; i != 1000; ++i) expect(co_await s.read_value<int>() == i, "short values");
  std::string text(100, 'x');
  co_await s.read_value(text);
  expect(text == "a name", text);
  expect((co_await s.read_value<std::string>()).empty(), "a value of no bytes");
  expect(co_await outcome(s.read_value<std::vector<double>>(at_most{1000})) == errc::truncated,
         "a value has a bound");
  expect(co_await s.read_value<std::vector<double>>() == many_numbers(), "and is left whole");
  std::array<double, 3> three{};
  co_await s.read_value(std::span(three));
  expect(three[2] == 1.5, "into a span");
  expect((co_await s.read_value<table>()).rows == some_table(20'000).rows, "an own type");
  const auto strings = co_await s.read_value<std::vector<std::string>>();
  expect(strings == std::vector<std::string>{"x", "", "zz"}, "strings");
  expect(co_await outcome(s.read_value<int>()) == errc::protocol_error, "another type");
  expect(co_await outcome(s.read_value<std::vector<std::string>>()) == errc::protocol_error,
         "an object of another type");
  expect(co_await s.read_value<int>() == 7, "the next value is behind it");
  expect(co_await outcome(s.read_value<int>()) == errc::closed, "the end between values");
  co_await end_both(s);
}

task<void> write_values_slowly(context&, endpoint other) {
  stream s(other, 4);
  for (std::uint64_t i = 0; i != 60; ++i) {
    const std::vector<std::uint64_t> some(1 + i * i * 17 % 20'000, i);
    co_await s.write_value(some);
    if (i % 4 == 0) co_await sleep_for(100us);
  }
  s.finish();
  co_await end_both(s);
}
task<void> read_values_with_deadlines(context&, endpoint other) {
  stream s(other, 4);
  int late = 0;
  for (std::uint64_t i = 0; i != 60;) {
    std::vector<std::uint64_t> some;
    const errc how = co_await outcome(within(late % 3 * 50us, s.read_value(some)));
    if (how == errc::timed_out) {
      ++late;
      continue;
    }
    expect(how == errc::ok, "a read ends or is too late");
    expect(some.size() == 1 + i * i * 17 % 20'000 && some.back() == i, "nothing is lost");
    ++i;
  }
  co_await end_both(s);
}

// --- a peer that lies, and one that stops --------------------------------------------------------

task<void> announce_much(context&, endpoint other) {
  {
    stream s(other, 5);
    const std::uint64_t announced = std::uint64_t{1} << 29;
    co_await s.write(std::as_bytes(std::span(&announced, 1)));
    co_await s.write(bytes_of("and that is all"));
    s.finish();
    co_await end_both(s);
  }
  stream s(other, 6);
  const std::vector<std::byte> longer_than_the_window(evenly);
  expect(co_await outcome(within(10ms, s.write_value(longer_than_the_window))) == errc::timed_out,
         "a peer that does not read");
  expect(s.written() == 0, "nothing of the value has left");
  std::array<std::byte, 1> word{};
  co_await other.send(word, tag{1});

  std::stop_source stop;
  scope both;
  errc how = errc::ok;
  both.start(outcome(stoppable(stop.get_token(), s.write_value(longer_than_the_window))),
             [&](errc e) { how = e; });
  co_await other.recv(word, tag{1});
  stop.request_stop();
  co_await both.join();
  expect(how == errc::stopped && s.written() != 0, "a part of the value has left");
  co_await other.send(word, tag{1});
  expect(co_await outcome(s.write_value(1)) == errc::closed, "nothing can follow a part");
  co_await other.recv(word, tag{1});
}
task<void> believe_nothing(context&, endpoint other) {
  {
    stream s(other, 5);
    expect(co_await outcome(s.read_value<std::string>()) == errc::protocol_error,
           "the end in the middle of a value");
    bytes left(100);
    expect(co_await s.read(left) == 23, "whose bytes are left");
    co_await end_both(s);
  }
  stream s(other, 6);
  std::array<std::byte, 1> word{};
  co_await other.recv(word, tag{1});
  bytes some(1000);
  co_await s.read_exactly(some);
  co_await other.send(word, tag{1});
  co_await other.recv(word, tag{1});  // until then the window is full
  errc how = errc::ok;
  while (how == errc::ok) how = co_await outcome(s.read_exactly(some));
  expect(how == errc::peer_lost, "a value whose write was stopped");
  co_await other.send(word, tag{1});
}

task<void> send_nothing(context&, endpoint other) {
  stream s(other, 7);
  std::array<std::byte, 1> done{};
  co_await other.recv(done, tag{1});
  s.finish();
  co_await end_both(s);
}
/// Two reads at once are an error of the caller's, and harm nothing.
task<void> read_twice(context&, endpoint other) {
  stream s(other, 7);
  scope both;
  errc first = errc::ok, second = errc::ok;
  const auto note = [](task<std::string> read, errc& how) -> task<void> {
    const auto end = co_await as_result(std::move(read));
    how = end.code();
  };
  both.start(note(s.read_until("\n"), first));
  both.start(note(s.read_until("\n"), second));
  std::array<std::byte, 1> done{};
  expect(s.try_read(done).value() == 0, "nothing has come");
  co_await other.send(done, tag{1});
  co_await both.join();
  expect(first == errc::closed && second == errc::invalid_argument, "one read at a time");
  co_await end_both(s);
}

}  // namespace

CONFORMS("streams: reads of a certain length", write_unevenly, read_evenly)
CONFORMS("streams: a stopped read of a certain length", write_slowly, read_with_deadlines)
CONFORMS("streams: lines", write_lines, read_lines)
CONFORMS("streams: values", write_values, read_values)
CONFORMS("streams: a stopped read of a value", write_values_slowly, read_values_with_deadlines)
CONFORMS("streams: values that do not end", announce_much, believe_nothing)
CONFORMS("streams: two reads of lines at once", send_nothing, read_twice)
