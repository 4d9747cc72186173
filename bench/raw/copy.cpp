// SPDX-License-Identifier: Apache-2.0
// Latency and bandwidth of large messages: the loops, written once for all ways to copy. They
// are the loops that the libraries run too (peers/mpi_loops.cpp): stamp, send, receive, check.
#include <sys/prctl.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "raw/channel.hpp"
#include "raw/raw.hpp"
#include "support/clock.hpp"
#include "support/pair.hpp"
#include "support/pattern.hpp"
#include "support/plan.hpp"

namespace weft::bench::raw {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

/// Buffers inside the shared block, for the way that copies directly out of them.
class shared_buffers {
 public:
  shared_buffers(std::byte* memory, std::size_t count, std::size_t size)
      : memory_(memory), count_(count), size_(size) {}

  std::size_t count() const noexcept { return count_; }
  std::span<std::byte> operator[](std::size_t index) noexcept {
    return {memory_ + index * whole_lines(size_), size_};
  }
  std::span<std::byte> next() noexcept {
    if (next_ == count_) next_ = 0;
    return (*this)[next_++];
  }

 private:
  std::byte* memory_;
  std::size_t count_;
  std::size_t size_;
  std::size_t next_ = 0;
};

/// The parameters of one run of a pair.
struct setting {
  std::size_t size;
  std::size_t window;
  std::size_t buffers;
  ring_shape ring;
  plan loops;
};

/// The shared block: an acknowledgement each way, a channel each way, and source memory each way.
template <typename Channel>
struct layout {
  struct alignas(64) ack_line {
    std::atomic<std::uint64_t> value{0};
  };
  static std::size_t channel_bytes(const setting& s) { return whole_lines(Channel::bytes(s.ring)); }
  static std::size_t source_bytes(const setting& s) { return s.buffers * whole_lines(s.size); }
  static std::size_t total(const setting& s) {
    return 2 * (sizeof(ack_line) + channel_bytes(s) + source_bytes(s));
  }

  ack_line* acks;
  std::byte* channels[2] = {};
  std::byte* sources[2] = {};

  layout(std::span<std::byte> shared, const setting& s)
      : acks(reinterpret_cast<ack_line*>(shared.data())) {
    std::byte* at = shared.data() + 2 * sizeof(ack_line);
    for (auto& channel : channels) channel = std::exchange(at, at + channel_bytes(s));
    for (auto& source : sources) source = std::exchange(at, at + source_bytes(s));
  }
};

template <typename Channel>
auto source_buffers(std::byte* shared, const setting& s) {
  if constexpr (std::is_same_v<Channel, direct_channel>)
    return shared_buffers(shared, s.buffers, s.size);
  else
    return heap_buffers(s.buffers, s.size);
}

template <typename Buffers>
void fill_all(Buffers& buffers) {
  for (std::size_t i = 0; i < buffers.count(); ++i) fill(buffers[i], i + 1);
}

void verify_all(heap_buffers& buffers, std::size_t used) {
  for (std::size_t i = 0; i < std::min(used, buffers.count()); ++i) verify(buffers[i], i + 1);
}

template <typename Channel>
void latency_body(forked_member& self, const setting& s) {
  const layout<Channel> area(self.shared(), s);
  const auto me = static_cast<std::size_t>(self.rank());
  Channel outbound(area.channels[me], s.ring);
  Channel inbound(area.channels[1 - me], s.ring);
  auto out = source_buffers<Channel>(area.sources[me], s);
  heap_buffers in(s.buffers, s.size);
  fill_all(out);
  self.barrier();

  std::uint64_t n = 0;
  const auto round_trips = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i, ++n) {
      const auto message = out.next();
      const auto box = in.next();
      if (me == 0) {
        stamp(message, n);
        outbound.send(message);
      }
      inbound.receive(box);
      check_stamp(box, n);
      if (me == 1) {
        stamp(message, n);
        outbound.send(message);
      }
    }
  };
  round_trips(s.loops.warm_up);
  for (std::size_t batch = 0; batch < s.loops.batches; ++batch) {
    const auto start = now_ns();
    round_trips(s.loops.per_batch);
    if (me == 0)
      self.report(us_between(start, now_ns()) / 2.0 / static_cast<double>(s.loops.per_batch));
  }
  self.barrier();  // rank 1's last message may still be read from its memory
  verify_all(in, n);
}

template <typename Channel>
void bandwidth_body(forked_member& self, const setting& s) {
  layout<Channel> area(self.shared(), s);
  const bool sender = self.rank() == 0;
  Channel channel(area.channels[0], s.ring);
  auto out = source_buffers<Channel>(area.sources[0], s);
  heap_buffers in(sender ? 1 : s.buffers, sender ? 0 : s.size);
  if (sender) fill_all(out);
  auto& ack = area.acks[0].value;
  self.barrier();

  std::uint64_t n = 0;
  std::uint64_t windows = 0;
  const auto run_windows = [&](std::size_t count) {
    for (std::size_t w = 0; w < count; ++w) {
      ++windows;
      for (std::size_t i = 0; i < s.window; ++i, ++n) {
        if (sender) {
          const auto message = out.next();
          stamp(message, n);
          channel.send(message);
        } else {
          const auto box = in.next();
          channel.receive(box);
          check_stamp(box, n);
        }
      }
      if (sender)
        spin_until([&] { return ack.load(std::memory_order_acquire) == windows; });
      else
        ack.store(windows, std::memory_order_release);
    }
  };
  run_windows(s.loops.warm_up);
  const auto bytes = static_cast<double>(s.loops.per_batch * s.window * s.size);
  for (std::size_t batch = 0; batch < s.loops.batches; ++batch) {
    const auto start = now_ns();
    run_windows(s.loops.per_batch);
    if (sender) self.report(bytes / us_between(start, now_ns()));
  }
  self.barrier();
  if (!sender) verify_all(in, n);
}

template <typename Body>
std::vector<double> run(const char* name, std::size_t shared_bytes, const setting& s, Body&& body) {
  return run_pair({.name = name, .shared_bytes = shared_bytes, .max_samples = s.loops.batches},
                  [&](forked_member& self) {
                    // Some hosts let only a parent read a process's memory: allow the sibling.
                    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
                    body(self, s);
                  })[0];
}

}  // namespace

std::vector<double> copy_latency_us(copy_way way, std::size_t size, ring_shape ring,
                                    double effort) {
  const setting s{size, 1, 1, ring, latency_plan(size, effort)};
  switch (way) {
    case copy_way::pipelined:
      return run("raw pipelined_copy", layout<pipelined_channel>::total(s), s,
                 latency_body<pipelined_channel>);
    case copy_way::streamed:
      return run("raw streamed_copy", layout<streamed_channel>::total(s), s,
                 latency_body<streamed_channel>);
    case copy_way::cma:
      return run("raw cma", layout<cma_channel>::total(s), s, latency_body<cma_channel>);
    case copy_way::direct:
      break;
  }
  return run("raw direct_copy", layout<direct_channel>::total(s), s, latency_body<direct_channel>);
}

std::vector<double> copy_bandwidth_mb_s(copy_way way, std::size_t size, const job& what,
                                        ring_shape ring) {
  const setting s{size, what.window, what.buffer_count(), ring,
                  window_plan(size, what.window, what.effort)};
  switch (way) {
    case copy_way::pipelined:
      return run("raw pipelined_copy", layout<pipelined_channel>::total(s), s,
                 bandwidth_body<pipelined_channel>);
    case copy_way::streamed:
      return run("raw streamed_copy", layout<streamed_channel>::total(s), s,
                 bandwidth_body<streamed_channel>);
    case copy_way::cma:
      return run("raw cma", layout<cma_channel>::total(s), s, bandwidth_body<cma_channel>);
    case copy_way::direct:
      break;
  }
  return run("raw direct_copy", layout<direct_channel>::total(s), s,
             bandwidth_body<direct_channel>);
}

}  // namespace weft::bench::raw
