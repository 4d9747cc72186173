// SPDX-License-Identifier: Apache-2.0
// The measured loops, as in an application. Both sides call each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stage/stage.hpp"
#include "support/clock.hpp"
#include "support/job.hpp"
#include "support/pattern.hpp"
#include "support/plan.hpp"
#include "support/timed_batches.hpp"

namespace weft::bench {

/// Throws std::runtime_error when a message of `size` bytes arrived with another length.
void check_length(const received& got, std::size_t size);

/// Microseconds of a repetition, a sample for each batch. \param step step(count) is a task of
/// `count` repetitions
template <class Step>
task<std::vector<double>> timed(plan loops, Step step) {
  co_await step(loops.warm_up);
  std::vector<double> us;
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    co_await step(loops.per_batch);
    us.push_back(us_between(start, now_ns()) / static_cast<double>(loops.per_batch));
  }
  co_return us;
}

/// The same for a time, if `loops` has one. A sample is then one repetition; before each batch side
/// 0 tells its length, in a message outside of the measured time.
template <class Step>
task<std::vector<double>> timed(const side& me, plan loops, Step step) {
  if (loops.for_ms <= 0) co_return co_await timed(loops, step);
  timed_batches batches(loops);
  for (;;) {
    std::uint64_t count = batches.next();
    const auto word = std::as_writable_bytes(std::span(&count, 1));
    if (me.rank == 0)
      co_await me.peer.send(word, sync_tag);
    else
      co_await me.peer.recv(word, sync_tag);
    if (count == 0) break;
    const auto start = now_ns();
    co_await step(count);
    if (me.rank == 0) batches.add(us_between(start, now_ns()));
  }
  co_return batches.take();
}

/// `count` messages there and back. \param out, in have next(), a buffer for a message
/// \param n the number of the next message; is advanced
template <class Buffers>
task<void> round_trips(const side& me, Buffers& out, Buffers& in, std::size_t count,
                       std::uint64_t& n) {
  for (std::size_t i = 0; i < count; ++i, ++n) {
    const std::span<std::byte> message = out.next(), box = in.next();
    if (me.rank == 0) {
      stamp(message, n);
      co_await me.peer.send(message, data_tag);
    }
    check_length(co_await me.peer.recv(box, data_tag), message.size());
    check_stamp(box, n);
    if (me.rank == 1) {
      stamp(message, n);
      co_await me.peer.send(message, data_tag);
    }
  }
}

/// `count` times a message each way at once; parameters as of round_trips.
template <class Buffers>
task<void> exchanges(const side& me, Buffers& out, Buffers& in, std::size_t count,
                     std::uint64_t& n) {
  scope both;
  received got;
  for (std::size_t i = 0; i < count; ++i, ++n) {
    const std::span<std::byte> message = out.next(), box = in.next();
    stamp(message, n);
    both.start(me.peer.recv(box, data_tag), [&got](const received& r) { got = r; });
    both.start(me.peer.send(message, data_tag));
    co_await both.join();
    check_length(got, message.size());
    check_stamp(box, n);
  }
}

/// Half round trips in microseconds: send, then receive.
task<std::vector<double>> half_round_trips(const side& me, std::size_t size, plan loops);

/// Microseconds of exchanges: each side starts a send and a receive, and waits for both.
task<std::vector<double>> exchanges(const side& me, std::size_t size, plan loops);

/// `what.window` sends or receives at once, joined, then an 8-byte acknowledgement. A sample is the
/// number of messages in a microsecond, that is millions of messages a second.
task<std::vector<double>> windows(const side& me, std::size_t size, const job& what);

/// Fills buffer i so that verify_all finds it intact.
void fill_all(heap_buffers& buffers);

/// Throws std::runtime_error unless the first `used` buffers have the contents that fill_all wrote
/// at the sender.
void verify_all(heap_buffers& buffers, std::size_t used);

}  // namespace weft::bench
