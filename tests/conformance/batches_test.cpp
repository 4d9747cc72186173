// SPDX-License-Identifier: Apache-2.0
// Several messages by one operation, over every transport and in every mode.
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "conversation.hpp"
#include "one_thread.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;

namespace {

constexpr tag data{1};
constexpr tag go{2};    // to the side that sends data
constexpr tag done{3};  // from it
constexpr tag answer{4};

/// Messages with their memory, as both calls want them.
struct batch {
  explicit batch(const std::vector<std::size_t>& sizes, bool filled) {
    for (std::uint64_t i = 0; i != sizes.size(); ++i)
      memory.push_back(filled ? pattern(sizes[i], i) : bytes(sizes[i]));
  }
  std::vector<const_buffer> out() const { return {memory.begin(), memory.end()}; }
  std::vector<mutable_buffer> in() { return {memory.begin(), memory.end()}; }

  std::vector<bytes> memory;
};

/// Sizes of a batch: mostly small, with all ways of a message between them.
std::vector<std::size_t> mixed(std::size_t count) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i != count; ++i)
    sizes.push_back(i % 40 == 7 ? 100'000 : i % 40 == 20 ? 20'000 : i * 7 % 100);
  return sizes;
}

/// One batch for which receives wait, and one that comes before them.
constexpr std::array<std::size_t, 2> batch_counts{300, 90};

task<void> send_batches(context&, endpoint other) {
  for (const std::size_t count : batch_counts) {
    const batch all(mixed(count), true);
    const auto out = all.out();
    co_await other.recv(mutable_buffer{}, go);
    co_await other.send_many(out, data);
    co_await other.send(const_buffer{}, done);
  }
}
task<void> receive_batches(context&, endpoint other) {
  for (const std::size_t count : batch_counts) {
    batch all(mixed(count), false);
    const auto in = all.in();
    std::vector<received> got(count);
    scope work;
    if (count == batch_counts[0]) work.start(other.recv_many(in, data, got));
    co_await other.send(const_buffer{}, go);
    if (count != batch_counts[0]) {
      while (!other.try_probe(data)) co_await other.probe(data);
      work.start(other.recv_many(in, data, got));
    }
    co_await work.join();
    co_await other.recv(mutable_buffer{}, done);
    expect(all.memory == batch(mixed(count), true).memory, "all messages of a batch arrive");
    for (std::size_t i = 0; i != count; ++i)
      expect(
          got[i].size == all.memory[i].size() && got[i].source == other.id() && got[i].tag == data,
          "what each receive of a batch tells");
  }
}

/// Single sends for a batch of receives, and the reverse; shorter messages than there is room for.
task<void> send_singles(context&, endpoint other) {
  std::array<std::byte, 8> word{};
  scope sends;
  for (int i = 0; i != 100; ++i)
    sends.start(other.send(std::span(word).first(static_cast<std::size_t>(i) % 9), data,
                           static_cast<std::uint64_t>(i)));
  co_await sends.join();
  batch answers(std::vector<std::size_t>(100, 8), false);
  for (mutable_buffer into : answers.in()) co_await other.recv(into, answer);
  expect(answers.memory == batch(std::vector<std::size_t>(100, 8), true).memory,
         "a batch of sends meets single receives");
}
task<void> receive_singles(context&, endpoint other) {
  batch all(std::vector<std::size_t>(100, 8), false);
  const auto in = all.in();
  std::array<received, 60> got{};  // fewer than messages
  co_await other.recv_many(in, data, got);
  for (std::size_t i = 0; i != got.size(); ++i)
    expect(got[i].size == i % 9 && got[i].immediate == i, "a shorter message, and its word");
  const batch answers(std::vector<std::size_t>(100, 8), true);
  const auto out = answers.out();
  co_await other.send_many(out, answer);
  co_await other.recv_many({}, data);
  co_await other.send_many({}, data);
}

constexpr std::array<std::size_t, 2> too_long_sizes{9, 100'000};

/// One message is too long for its place. Those behind it are for other receives.
task<void> send_one_too_long(context&, endpoint other) {
  for (const std::size_t too_long : too_long_sizes) {
    co_await other.recv(mutable_buffer{}, go);
    std::vector<std::size_t> sizes(10, 8);
    sizes[4] = too_long;
    const batch all(sizes, true);
    const auto out = all.out();
    co_await other.send_many(out, data);
  }
}
task<void> receive_one_too_long(context&, endpoint other) {
  for (const std::size_t too_long : too_long_sizes) {
    co_await other.send(const_buffer{}, go);
    batch all(std::vector<std::size_t>(10, 8), false);
    const auto in = all.in();
    std::array<received, 10> got{};
    const auto end = co_await as_result(other.recv_many(in, data, got));
    expect(end.code() == errc::truncated, "a message that is too long ends the batch");
    expect(std::string(end.failure().what()).find("after 4 of 10 messages") != std::string::npos,
           "the error tells which message it was");
    expect(got[4].size == too_long && got[5].source == no_peer,
           "messages that came are described, and no others");
    bytes one(8);
    for (std::uint64_t i = 5; i != 10; ++i) {
      co_await other.recv(one, data);
      expect(one == pattern(8, i), "later messages are left to other receives");
    }
  }
}

/// A batch that is stopped before it is complete has what came, and takes nothing later.
task<void> send_in_two_parts(context&, endpoint other) {
  const batch all(std::vector<std::size_t>(8, 8), true);
  const std::vector<const_buffer> out = all.out();
  co_await other.send_many(std::span(out).first(5), data);
  co_await other.send(const_buffer{}, done);
  co_await other.recv(mutable_buffer{}, go);
  co_await other.send_many(std::span(out).last(3), data);
}
task<void> stop_between_parts(context&, endpoint other) {
  batch all(std::vector<std::size_t>(8, 8), false);
  const auto in = all.in();
  std::array<received, 8> got{};
  scope work;
  work.start(other.recv_many(in, data, got));
  co_await other.recv(mutable_buffer{}, done);  // after the first part
  work.request_stop();
  co_await work.join();
  for (std::size_t i = 0; i != got.size(); ++i)
    expect((got[i].source == other.id()) == (i < 5),
           "messages that came before a stop are described");
  co_await other.send(const_buffer{}, go);
  bytes one(8);
  for (std::uint64_t i = 5; i != 8; ++i) {
    co_await other.recv(one, data);
    expect(one == pattern(8, i) && all.memory[i] == bytes(8), "a stopped batch takes no more");
  }
}

task<void> send_and_leave(context&, endpoint other) {
  const batch all(std::vector<std::size_t>(3, 8), true);
  const auto out = all.out();
  co_await other.send_many(out, data);
  other.close();
  co_await other.closed();
  const auto end = co_await as_result(other.send_many(out, data));
  expect(end.code() == errc::closed, "a batch after close");
}
task<void> wait_for_more(context&, endpoint other) {
  batch all(std::vector<std::size_t>(5, 8), false);
  const auto in = all.in();
  const auto end = co_await as_result(other.recv_many(in, data));
  expect(end.code() == errc::closed, "a batch ends when no more can come");
  expect(std::string(end.failure().what()).find("after 3 of 5 messages") != std::string::npos,
         "the error tells how many came");
  expect(all.memory[2] == pattern(8, 2) && all.memory[3] == bytes(8), "and these are whole");
}

task<void> send_batches_elsewhere(context& here, endpoint other) {
  return elsewhere(&send_batches, here, other);
}
task<void> receive_batches_elsewhere(context& here, endpoint other) {
  return elsewhere(&receive_batches, here, other);
}

}  // namespace

CONFORMS("batches: messages of all sizes, expected and not", send_batches, receive_batches)
CONFORMS("batches: together with single sends and receives", send_singles, receive_singles)
CONFORMS("batches: one message is too long", send_one_too_long, receive_one_too_long)
CONFORMS("batches: stopped half way", send_in_two_parts, stop_between_parts)
CONFORMS("batches: on threads of their own", send_batches_elsewhere, receive_batches_elsewhere)

TEST_CASE("conformance: batches: the peer leaves half way") {
  const setting how = every_setting();
  if (how.where == place::same_context) return;  // there the two ends are one endpoint
  CAPTURE(how);
  CHECK_NOTHROW(converse(how, &send_and_leave, &wait_for_more));
}
