// SPDX-License-Identifier: Apache-2.0
// The guarantees of streams, over every transport and in every mode.
#include <algorithm>
#include <array>
#include <random>

#include "conversation.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t much = 3u << 20;

const bytes& content() {
  static const bytes all = pattern(much, 42);
  return all;
}

/// Reads to the end, in pieces of changing length.
task<bytes> read_all(stream& s, std::size_t longest) {
  bytes all;
  std::mt19937 dice(7);
  bytes piece(longest);
  for (;;) {
    const std::size_t wanted = 1 + dice() % longest;
    const std::size_t n = co_await s.read(mutable_buffer(piece).first(wanted));
    if (n == 0) co_return all;
    expect(n <= wanted, "a read is not longer than its buffer");
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n));
  }
}

task<void> write_in_pieces(stream& s, std::size_t longest) {
  std::mt19937 dice(8);
  for (std::size_t at = 0; at != much;) {
    const std::size_t n = std::min<std::size_t>(1 + dice() % longest, much - at);
    co_await s.write(const_buffer(content()).subspan(at, n));
    at += n;
  }
  s.finish();
}

// --- both directions at once, in pieces that do not fit together ---------------------------------

template <std::size_t Written, std::size_t Read>
task<void> both_ways(context&, endpoint other) {
  stream s(other, 3);
  scope halves;
  bytes got;
  halves.start(write_in_pieces(s, Written));
  halves.start(read_all(s, Read), [&](bytes b) { got = std::move(b); });
  co_await halves.join();
  expect(got == content(), "the bytes arrive as they were");
  expect(s.written() == much && s.bytes_read() == much, "what a stream tells of itself");
  s.close();
  co_await s.closed();
}

// --- several streams between the same two, the one unread ----------------------------------------

task<void> fill_one_use_another(context&, endpoint other) {
  stream unread(other, 1), used(other, 2);
  std::size_t ahead = 0;
  for (;;) {  // as far as the window goes
    auto n = unread.try_write(const_buffer(content()).subspan(ahead, 4096));
    if (ahead != 0 && n.value() == 0) break;
    ahead += n.value();
    if (n.value() == 0) co_await sleep_for(100us);
    expect(ahead <= stream_options{}.window, "the window bounds what is not read");
  }
  co_await write_in_pieces(used, 1u << 20);
  std::array<std::byte, 1> read_by_now;
  co_await used.read(read_by_now);
  co_await unread.write(const_buffer(content()).subspan(ahead));
  unread.finish();
  unread.close();
  used.close();
  co_await unread.closed();
  co_await used.closed();
}
task<void> read_the_other_first(context&, endpoint other) {
  stream unread(other, 1), used(other, 2);
  expect(co_await read_all(used, 50'000) == content(), "a stream beside one that is stuck");
  co_await used.write(const_buffer(content()).first(1));
  expect(co_await read_all(unread, 200'000) == content(), "a stream that was stuck");
  unread.close();
  used.close();
  co_await unread.closed();
  co_await used.closed();
}

// --- without waiting -----------------------------------------------------------------------------

task<void> put_without_waiting(context&, endpoint other) {
  stream s(other, 9);
  std::mt19937 dice(1);
  for (std::size_t at = 0; at != much;) {
    const const_buffer rest = const_buffer(content()).subspan(at);
    const std::array list{rest.first(std::min<std::size_t>(rest.size(), dice() % 100)),
                          rest.subspan(std::min<std::size_t>(rest.size(), 100)).first(0), rest};
    // The pieces of a list follow each other: here the third one repeats the first.
    const std::array two{list[0], list[2].subspan(list[0].size())};
    auto n = s.try_write(std::span<const const_buffer>(two));
    at += n.value();
    if (n.value() == 0) co_await sleep_for(50us);
  }
  s.finish();
  expect(s.try_write(const_buffer(content()).first(1)).code() == errc::closed,
         "nothing is put behind the end");
  s.close();
  co_await s.closed();
}
task<void> get_without_waiting(context&, endpoint other) {
  stream s(other, 9);
  bytes all;
  bytes one(10), two(30'000);
  for (;;) {
    const std::array<mutable_buffer, 2> list{one, two};
    auto n = s.try_read(std::span<const mutable_buffer>(list));
    if (n.code() == errc::closed) break;
    const std::size_t got = n.value();
    const std::size_t first = std::min(got, one.size());
    all.insert(all.end(), one.begin(), one.begin() + static_cast<std::ptrdiff_t>(first));
    all.insert(all.end(), two.begin(), two.begin() + static_cast<std::ptrdiff_t>(got - first));
    if (got == 0) co_await sleep_for(50us);
  }
  expect(all == content(), "the bytes arrive without waiting, too");
  s.close();
  co_await s.closed();
}

// --- stops and deadlines -------------------------------------------------------------------------

task<void> write_with_stops(context&, endpoint other) {
  stream s(other, 4);
  while (s.written() != much) {
    const std::uint64_t before = s.written();
    const errc how =
        co_await outcome(within(200us, s.write(const_buffer(content()).subspan(before))));
    expect(how == errc::ok || how == errc::timed_out, "a write ends or is too late");
    expect(how != errc::ok || s.written() == much, "a write that ends well has written all");
  }
  s.finish();
  s.close();
  co_await s.closed();
}
task<void> read_with_stops(context&, endpoint other) {
  stream s(other, 4);
  bytes all, piece(700'000);
  int stops = 0;
  for (;;) {
    // Some of them are stopped at once, some in the middle of a message.
    auto n = co_await as_result(
        within(stops % 3 == 0 ? 0us : 100us,
               s.read(mutable_buffer(piece).first(stops % 5 == 0 ? 100 : piece.size()))));
    if (!n) {
      expect(n.code() == errc::timed_out, "a read ends or is too late");
      std::fill(piece.begin(), piece.end(), std::byte{0xee});
      ++stops;
      continue;
    }
    if (n.value() == 0) break;
    const std::size_t got = n.value();
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
    if (stops % 7 == 1) ++stops;
  }
  expect(all == content(), "nothing is lost or doubled by a stop");
  s.close();
  co_await s.closed();
}

// --- ends ----------------------------------------------------------------------------------------

task<void> end_in_order(context&, endpoint other) {
  {
    stream s(other, 5);  // nothing is sent
    s.finish();
    std::array<std::byte, 8> box;
    expect(co_await s.read(box) == 0, "a stream of no bytes has its end");
    expect(co_await s.read(box) == 0, "and has it again");
    expect(s.try_read(box).code() == errc::closed, "without waiting, too");
    s.close();
    co_await s.closed();
  }
  stream again(other, 5);  // the number is free
  co_await again.write(pattern(10, 1));
  bytes back(10);
  std::size_t n = 0;
  while (n != back.size()) n += co_await again.read(mutable_buffer(back).subspan(n));
  expect(back == pattern(10, 1), "a number can be opened again");
  again.close();
  co_await again.closed();
}

task<void> let_go(context&, endpoint other) {
  {
    stream s(other, 6);
    co_await s.write(pattern(1000, 1));
  }
  std::array<std::byte, 1> done;
  co_await other.recv(done, tag{1});
}
task<void> notice_the_loss(context&, endpoint other) {
  stream s(other, 6);
  bytes in(1000);
  std::size_t n = 0;
  while (n != in.size()) n += co_await s.read(mutable_buffer(in).subspan(n));
  expect(in == pattern(1000, 1), "what was written before is read");
  expect(co_await outcome(s.read(in)) == errc::peer_lost, "a stream without its end is broken");
  expect(s.try_read(in).code() == errc::peer_lost, "and stays so");
  std::array<std::byte, 1> done{};
  co_await other.send(done, tag{1});
}

task<void> close_early(context&, endpoint other) {
  stream s(other, 8);
  bytes in(100);
  expect(co_await s.read(in) != 0, "something comes");
  s.close();
  expect(co_await outcome(s.closed()) == errc::ok, "who wrote nothing lost nothing");
}
task<void> write_in_vain(context&, endpoint other) {
  stream s(other, 8);
  errc how = errc::ok;
  for (int i = 0; i != 100 && how == errc::ok; ++i) how = co_await outcome(s.write(content()));
  expect(how == errc::closed, "nobody reads what is written");
  s.close();
  expect(co_await outcome(s.closed()) == errc::closed, "and the end tells so");
}

}  // namespace

TEST_CASE("streams: bytes in both directions", "[conformance][stream]") {
  const setting how = every_setting();
  INFO(how);
  converse(how, both_ways<70'000, 200'000>, both_ways<300'000, 5000>);
}

TEST_CASE("streams: large writes into large reads", "[conformance][stream]") {
  const setting how = every_setting();
  INFO(how);
  converse(how, both_ways<much, much>, both_ways<much, much>);
}

TEST_CASE("streams: one that nobody reads does not stop another", "[conformance][stream]") {
  const setting how = every_setting();
  INFO(how);
  converse(how, fill_one_use_another, read_the_other_first);
}

TEST_CASE("streams: put and get without waiting", "[conformance][stream]") {
  const setting how = every_setting();
  INFO(how);
  converse(how, put_without_waiting, get_without_waiting);
}

TEST_CASE("streams: a stop loses and doubles nothing", "[conformance][stream]") {
  const setting how = every_setting();
  INFO(how);
  converse(how, write_with_stops, read_with_stops);
}

TEST_CASE("streams: the end, and the same number again", "[conformance][stream]") {
  const setting how = every_setting();
  INFO(how);
  converse(how, end_in_order, end_in_order);
}

TEST_CASE("streams: let go without its end, one is broken", "[conformance][stream]") {
  const setting how = every_setting();
  INFO(how);
  converse(how, let_go, notice_the_loss);
}

TEST_CASE("streams: a reader that closes early", "[conformance][stream]") {
  const setting how = every_setting();
  INFO(how);
  converse(how, close_early, write_in_vain);
}
