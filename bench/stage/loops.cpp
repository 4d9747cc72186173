// SPDX-License-Identifier: Apache-2.0
#include "stage/loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

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
  heap_buffers out(1, size), in(1, size);
  fill_all(out);
  co_await barrier(me);
  std::uint64_t n = 0;
  const auto some = [&](std::size_t count) { return round_trips(me, out, in, count, n); };
  std::vector<double> samples = co_await timed(me, loops, some);
  for (double& us : samples) us /= 2;
  verify_all(in, n);
  co_return samples;
}

task<std::vector<double>> exchanges(const side& me, std::size_t size, plan loops) {
  heap_buffers out(1, size), in(1, size);
  fill_all(out);
  co_await barrier(me);
  std::uint64_t n = 0;
  const auto some = [&](std::size_t count) { return exchanges(me, out, in, count, n); };
  std::vector<double> samples = co_await timed(loops, some);
  verify_all(in, n);
  co_return samples;
}

task<std::vector<double>> windows(const side& me, std::size_t size, const job& what) {
  const endpoint peer = me.peer;
  const plan loops = window_plan(size, what.window, what.effort).lasting(what.for_ms);
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
  std::vector<double> samples = co_await timed(me, loops, run_windows);
  for (double& sample : samples) sample = static_cast<double>(what.window) / sample;
  if (me.rank == 1) {
    for (const auto& arrival : arrivals) check_length(arrival, size);
    verify_all(buffers, n);
  }
  co_return samples;
}

}  // namespace weft::bench
