// SPDX-License-Identifier: Apache-2.0
// The guarantees of access to the memory of peers, over every transport and in every mode.
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "conversation.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr std::array<std::size_t, 11> access_sizes{
    0, 1, 8, 100, 8192, 8193, 65'536, 65'537, 300'001, 1u << 20, 2'000'003};
constexpr std::size_t largest = access_sizes.back();

using words = std::array<std::uint64_t, 8>;

task<void> tell(endpoint other, const region& of) {
  const remote_region where = of.remote();
  co_await other.send(std::as_bytes(std::span(&where, 1)), tag{1});
}
task<remote_region> hear(endpoint other) {
  remote_region where;
  co_await other.recv(std::as_writable_bytes(std::span(&where, 1)), tag{1});
  co_return where;
}
task<void> say_done(endpoint other) { co_await other.send(const_buffer{}, tag{2}); }
task<void> hear_done(endpoint other) { co_await other.recv(mutable_buffer{}, tag{2}); }

// --- bytes there and back -------------------------------------------------------------------

task<void> put_and_get(context&, endpoint other) {
  const remote_region all = co_await hear(other);
  for (const std::size_t size : access_sizes) {
    const bytes out = pattern(size, size);
    const remote_region there = all.part(3, size);
    co_await other.put(out, there);
    bytes back(size);
    co_await other.get(back, there);
    expect(back == out, std::to_string(size) + " bytes come back as they were put");
    co_await other.put(out, there, notify{size});
    co_await hear_done(other);
  }
}
task<void> be_put_into(context& here, endpoint other) {
  bytes memory(largest + 6, std::byte{0x55});
  region mine(here, memory, rights::read_write);
  co_await tell(other, mine);
  for (const std::size_t size : access_sizes) {
    const notification n = co_await mine.notified();
    expect(n.value == size && n.source == other.id(), "a notification tells whose it is");
    const auto* const from = memory.data() + 3;
    expect(bytes(from, from + size) == pattern(size, size), "what was put is there");
    const auto untouched = [](std::byte b) { return b == std::byte{0x55}; };
    expect(untouched(memory[2]) && untouched(memory[size + 3]), "and nothing beside it");
    co_await say_done(other);
  }
}

// --- a window of slots, both ways at once ---------------------------------------------------

constexpr std::uint64_t filled = 100;
constexpr std::size_t depth = 4, slot_size = 10'000;

task<void> produce(endpoint peer, const region& mine, remote_region window) {
  bytes frame;
  for (std::uint64_t n = 0; n != filled; ++n) {
    if (n >= depth) co_await mine.notified();  // waits until the oldest slot is free again
    frame = pattern(1 + n * 49 % slot_size, n);
    co_await peer.put(frame, window.part(n % depth * slot_size, slot_size), notify{n});
  }
}
task<void> consume(endpoint peer, const bytes& memory, const region& window, remote_region tell) {
  for (std::uint64_t n = 0; n != filled; ++n) {
    const notification got = co_await window.notified();
    expect(got.value == n, "notifications of one peer come in order");
    const bytes wanted = pattern(1 + n * 49 % slot_size, n);
    expect(std::memcmp(memory.data() + n % depth * slot_size, wanted.data(), wanted.size()) == 0,
           "a slot holds what its notification says");
    if (n + depth < filled) co_await peer.signal(tell, notify{n});
  }
}
task<void> windows_both_ways(context& here, endpoint other) {
  bytes memory(depth * slot_size);
  std::array<std::byte, 1> nothing{};
  region window(here, memory, rights::write), acknowledged(here, nothing, rights::write);
  co_await tell(other, window);
  co_await tell(other, acknowledged);
  const remote_region there = co_await hear(other);
  const remote_region told = co_await hear(other);
  co_await when_all(produce(other, acknowledged, there), consume(other, memory, window, told));
  co_await when_all(say_done(other), hear_done(other));
}

// --- counting -------------------------------------------------------------------------------

constexpr std::uint64_t counts = 100;

task<void> count_in(endpoint peer, remote_region word) {
  for (std::uint64_t i = 0; i != counts; ++i) {
    co_await peer.fetch_add(word, 3);
    // One more increment, as a program that has only compare_swap does it.
    for (std::uint64_t seen = 0, found = 0;; seen = found) {
      found = co_await peer.compare_swap(word, seen, seen + 1);
      if (found == seen) break;
    }
  }
}
task<void> count_there(context&, endpoint other) {
  const remote_region all = co_await hear(other);
  const remote_region word = all.part(8, 8);
  co_await when_all(count_in(other, word), count_in(other, word));
  co_await say_done(other);
}
task<void> be_counted(context& here, endpoint other) {
  alignas(8) words memory{};
  region mine(here, std::as_writable_bytes(std::span(memory)), rights::read_write);
  co_await tell(other, mine);
  const std::atomic_ref<std::uint64_t> word(memory[1]);
  for (std::uint64_t i = 0; i != counts; ++i) word.fetch_add(5);
  co_await hear_done(other);
  expect(word.load() == counts * (2 * 4 + 5), "no count is lost");
  expect(memory[0] == 0 && memory[2] == 0, "and the words beside it are as they were");
}

// --- an owner that computes -----------------------------------------------------------------

task<void> reach_the_busy(context&, endpoint other) {
  const remote_region all = co_await hear(other);
  const bytes out = pattern(100'000, 9);
  bytes back(out.size());
  co_await other.put(out, all.part(8, out.size()));
  co_await other.get(back, all.part(8, out.size()));
  expect(back == out, "who computes is written to and read");
  co_await other.fetch_add(all, 1);
}
task<void> be_busy(context& here, endpoint other) {
  std::vector<std::uint64_t> memory(20'000);
  region mine(here, std::as_writable_bytes(std::span(memory)), rights::read_write);
  co_await tell(other, mine);
  // No function of weft is called in the meantime, and this side has no operation in flight.
  const std::atomic_ref<std::uint64_t> word(memory[0]);
  while (word.load() == 0) std::this_thread::yield();
}

// --- under a name of the owner's choice -----------------------------------------------------

constexpr std::uint64_t chosen_key = 7;
constexpr std::uint64_t counted_from = 1'000'000;

task<void> use_name(context&, endpoint other) {
  co_await hear_done(other);
  for (const std::size_t size : {std::size_t{1}, std::size_t{100'000}}) {
    const bytes out = pattern(size, 1);
    bytes back(size);
    const remote_region there{chosen_key, counted_from + 100'000 - size, size};
    co_await other.put(out, there);
    co_await other.get(back, there);
    expect(back == out, "what was put comes back");
    for (const std::uint64_t outside : {counted_from - 1, counted_from + 100'001 - size,
                                        std::uint64_t{0}, std::uint64_t{1} << 47})
      expect(co_await outcome(other.put(out, {chosen_key, outside, size})) == errc::refused,
             "what lies before the region or behind it is refused");
  }
  co_await say_done(other);
}
task<void> be_named(context& here, endpoint other) {
  bytes memory(100'000);
  const region_name name{chosen_key, counted_from};
  const region mine(here, memory, rights::read_write, name);
  expect(mine.remote().key == chosen_key && mine.remote().offset == counted_from,
         "a region says how it is named");
  const auto fails = [&](region_name tried_name) {
    try {
      const region another(here, memory, rights::read, tried_name);
      return false;
    } catch (const error& e) {
      return e.kind() == errc::invalid_argument;
    }
  };
  expect(fails(name), "a key is one region's");
  expect(fails({0, 0}), "no region has the key 0");
  expect(fails({8, (std::uint64_t{1} << 48) - memory.size()}), "offsets have 48 bits");
  co_await say_done(other);
  co_await hear_done(other);
  expect(memory == pattern(memory.size(), 1), "it is there");
}

// --- what is refused ------------------------------------------------------------------------

task<void> ask_for_too_much(context&, endpoint other) {
  const remote_region readable = co_await hear(other);
  const remote_region writable = co_await hear(other);
  const remote_region ended = co_await hear(other);
  bytes some(100'000, std::byte{1});
  remote_region longer = readable, guessed = readable;
  longer.size += 200'000;
  ++guessed.key;
  for (const std::size_t size : {std::size_t{8}, some.size()}) {
    const mutable_buffer memory = std::span(some).first(size);
    expect(co_await outcome(other.put(memory, readable)) == errc::refused, "no right to write");
    expect(co_await outcome(other.get(memory, writable)) == errc::refused, "no right to read");
    expect(co_await outcome(other.put(memory, ended)) == errc::refused, "no region any more");
    expect(co_await outcome(other.get(memory, ended)) == errc::refused, "nor to read");
    expect(co_await outcome(other.get(memory, guessed)) == errc::refused, "a guessed key");
    const remote_region beyond = longer.part(readable.size - 4, size);
    expect(co_await outcome(other.get(memory, beyond)) == errc::refused, "beyond the end");
  }
  const remote_region odd = co_await hear(other);
  expect(co_await outcome(other.fetch_add(odd.part(0, 8), 1)) == errc::invalid_argument,
         "an odd word");
  expect(co_await outcome(other.fetch_add(readable, 1)) == errc::refused, "no right to count");
  expect(co_await outcome(other.put(some, readable.part(0, 4))) == errc::invalid_argument,
         "more than there is room for");
  expect(co_await outcome(other.get(some, remote_region{})) == errc::invalid_argument, "nowhere");
  // The connection still works afterwards.
  bytes first(10);
  co_await other.get(first, readable);
  expect(first == pattern(10, 1), "what may be read is read");
  co_await say_done(other);
}
task<void> refuse(context& here, endpoint other) {
  alignas(8) std::array<std::byte, 64> odd{};
  bytes memory = pattern(200'000, 1);
  memory.resize(200'000);
  std::copy_n(pattern(10, 1).begin(), 10, memory.begin());
  region readable(here, memory, rights::read), writable(here, memory, rights::write);
  std::optional<region> ended;
  ended.emplace(here, memory, rights::read_write);
  region counted(here, std::span(odd).subspan(1), rights::read_write);
  co_await tell(other, readable);
  co_await tell(other, writable);
  const remote_region gone = ended->remote();
  ended.reset();
  co_await other.send(std::as_bytes(std::span(&gone, 1)), tag{1});
  co_await tell(other, counted);
  co_await hear_done(other);
  expect(std::equal(memory.begin(), memory.begin() + 10, pattern(10, 1).begin()),
         "what was refused has written nothing");
}

// --- stopped --------------------------------------------------------------------------------

task<void> stop_some(context&, endpoint other) {
  const remote_region all = co_await hear(other);
  const bytes out = pattern(all.size, 7);
  bytes back(all.size);
  // At any moment: the operation ends, and the next one is right.
  for (int i = 0; i != 30; ++i) {
    const auto soon = std::chrono::microseconds(i * 20);
    static_cast<void>(co_await outcome(within(soon, other.put(out, all))));
    static_cast<void>(co_await outcome(within(soon, other.get(back, all))));
    std::fill(back.begin(), back.end(), std::byte{});
  }
  co_await other.put(out, all);
  co_await other.get(back, all);
  expect(back == out, "after many that were stopped one is done");
  co_await say_done(other);
}
task<void> be_touched(context& here, endpoint other) {
  bytes memory(700'000);
  region mine(here, memory, rights::read_write);
  expect(co_await outcome(within(1ms, mine.notified())) == errc::timed_out,
         "a wait for a notification can be stopped");
  co_await tell(other, mine);
  co_await hear_done(other);
}

// --- the end of a region --------------------------------------------------------------------

task<void> read_until_refused(context&, endpoint other) {
  const remote_region all = co_await hear(other);
  bytes into(all.size);
  errc how = errc::ok;
  for (int i = 0; how == errc::ok; ++i) {
    if (i == 3) co_await say_done(other);
    how = co_await outcome(other.get(into, all));
    if (how == errc::ok) expect(into == pattern(all.size, 4), "what is read is whole");
  }
  expect(how == errc::refused, "when it has ended, reading is refused");
  co_await say_done(other);
}
task<void> end_meanwhile(context& here, endpoint other) {
  bytes memory = pattern(2'000'000, 4);
  std::optional<region> mine;
  mine.emplace(here, memory, rights::read);
  co_await tell(other, *mine);
  co_await hear_done(other);
  if (other.id() % 2 == 0)
    mine.reset();
  else
    co_await mine->end();
  std::fill(memory.begin(), memory.end(), std::byte{});  // no peer sees that
  co_await hear_done(other);
}

}  // namespace

TEST_CASE("access: what is put is there, and can be read back") {
  const setting how = every_setting();
  CAPTURE(how);
  converse(how, put_and_get, be_put_into);
}

TEST_CASE("access: a window of slots with notifications, both ways at once") {
  const setting how = every_setting();
  CAPTURE(how);
  if (how.where == place::same_context) return;  // the two ends would take each other's messages
  converse(how, windows_both_ways, windows_both_ways);
}

TEST_CASE("access: the owner of the memory computes, and does not look") {
  const setting how = every_setting();
  CAPTURE(how);
  const bool others_look =
      how.progress == progress_mode::dedicated || how.progress == progress_mode::two_threads;
  if (how.where == place::same_context || !others_look) return;
  converse(how, reach_the_busy, be_busy);
}

TEST_CASE("access: no count is lost") {
  const setting how = every_setting();
  CAPTURE(how);
  converse(how, count_there, be_counted);
}

TEST_CASE("access: a region may have a name of its owner's choice") {
  const setting how = every_setting();
  CAPTURE(how);
  if (how.where == place::same_context) return;  // the two ends would take each other's messages
  converse(how, use_name, be_named);
}

TEST_CASE("access: what is not allowed is refused, and harms nothing") {
  const setting how = every_setting();
  CAPTURE(how);
  converse(how, ask_for_too_much, refuse);
}

TEST_CASE("access: stopped at any moment") {
  const setting how = every_setting();
  CAPTURE(how);
  converse(how, stop_some, be_touched);
}

TEST_CASE("access: a region that ends while it is read") {
  const setting how = every_setting();
  CAPTURE(how);
  converse(how, read_until_refused, end_meanwhile);
}
