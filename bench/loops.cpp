// SPDX-License-Identifier: Apache-2.0
#include "loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "support/clock.hpp"

namespace weft::bench {

void fill_all(heap_buffers& buffers) {
  for (std::size_t i = 0; i < buffers.count(); ++i) fill(buffers[i], i + 1);
}

void verify_all(heap_buffers& buffers, std::size_t used) {
  for (std::size_t i = 0; i < std::min(used, buffers.count()); ++i) verify(buffers[i], i + 1);
}

void check_length(const received& got, std::size_t size) {
  if (got.size != size)
    throw std::runtime_error(fmt::format("a message of {} bytes came with {}", size, got.size));
}

task<std::vector<double>> half_round_trips(const side& me, std::size_t size, plan loops) {
  const endpoint peer = me.peer;
  heap_buffers out(1, size);
  heap_buffers in(1, size);
  fill_all(out);
  co_await barrier(me);

  std::uint64_t n = 0;
  const auto round_trips = [&](std::size_t count) -> task<void> {
    for (std::size_t i = 0; i < count; ++i, ++n) {
      const auto message = out.next();
      const auto box = in.next();
      if (me.rank == 0) {
        stamp(message, n);
        co_await peer.send(message, data_tag);
      }
      check_length(co_await peer.recv(box, data_tag), size);
      check_stamp(box, n);
      if (me.rank == 1) {
        stamp(message, n);
        co_await peer.send(message, data_tag);
      }
    }
  };
  co_await round_trips(loops.warm_up);
  std::vector<double> samples;
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    co_await round_trips(loops.per_batch);
    if (me.rank == 0)
      samples.push_back(us_between(start, now_ns()) / 2.0 / static_cast<double>(loops.per_batch));
  }
  verify_all(in, n);
  co_return samples;
}

task<std::vector<double>> exchanges(const side& me, std::size_t size, plan loops) {
  const endpoint peer = me.peer;
  heap_buffers out(1, size);
  heap_buffers in(1, size);
  fill_all(out);
  co_await barrier(me);

  std::uint64_t n = 0;
  const auto some = [&](std::size_t count) -> task<void> {
    scope fly;
    received got;
    for (std::size_t i = 0; i < count; ++i, ++n) {
      stamp(out[0], n);
      fly.start(peer.recv(in[0], data_tag), [&got](const received& r) { got = r; });
      fly.start(peer.send(out[0], data_tag));
      co_await fly.join();
      check_length(got, size);
      check_stamp(in[0], n);
    }
  };
  co_await some(loops.warm_up);
  std::vector<double> samples;
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    co_await some(loops.per_batch);
    if (me.rank == 0)
      samples.push_back(us_between(start, now_ns()) / static_cast<double>(loops.per_batch));
  }
  verify_all(in, n);
  co_return samples;
}

task<std::vector<double>> windows(const side& me, std::size_t size, const job& what) {
  const endpoint peer = me.peer;
  const plan loops = window_plan(size, what.window, what.effort);
  heap_buffers buffers(what.buffer_count(), size);
  if (me.rank == 0) fill_all(buffers);
  std::vector<std::span<std::byte>> boxes(what.window);
  std::vector<const_buffer> out(what.window);
  std::vector<received> arrivals(what.window);
  std::array<std::byte, 8> ack{};
  scope fly;
  co_await barrier(me);

  std::uint64_t n = 0;
  const auto run_windows = [&](std::size_t count) -> task<void> {
    for (std::size_t w = 0; w < count; ++w) {
      for (std::size_t i = 0; i < what.window; ++i) {
        boxes[i] = buffers.next();
        if (me.rank == 0) stamp(boxes[i], n + i);
        out[i] = boxes[i];
        if (what.batches) continue;
        if (me.rank == 0)
          fly.start(peer.send(boxes[i], data_tag));
        else
          fly.start(peer.recv(boxes[i], data_tag),
                    [&arrival = arrivals[i]](const received& r) { arrival = r; });
      }
      if (!what.batches)
        co_await fly.join();
      else if (me.rank == 0)
        co_await peer.send_many(out, data_tag);
      else
        co_await peer.recv_many(boxes, data_tag, arrivals);
      if (me.rank == 0) {
        co_await peer.recv(ack, ack_tag);
      } else {
        for (std::size_t i = 0; i < what.window; ++i) check_stamp(boxes[i], n + i);
        co_await peer.send(ack, ack_tag);
      }
      n += what.window;
    }
  };
  co_await run_windows(loops.warm_up);
  std::vector<double> samples;
  const auto messages = static_cast<double>(loops.per_batch * what.window);
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    co_await run_windows(loops.per_batch);
    if (me.rank == 0) samples.push_back(messages / us_between(start, now_ns()));
  }
  if (me.rank == 1) {
    for (const auto& arrival : arrivals) check_length(arrival, size);
    verify_all(buffers, n);
  }
  co_return samples;
}

}  // namespace weft::bench
