// SPDX-License-Identifier: Apache-2.0
#include "messages/kinds_transfers.hpp"

#include <algorithm>
#include <cstring>

#include "support/clock.hpp"

namespace weft::bench {
namespace {

constexpr std::size_t cold_bytes = std::size_t{64}
                                   << 20;  // on each side; more than the caches of most machines

/// Throws std::runtime_error on a wrong stamp. Reads the rest as an application would.
void look_at(std::span<const std::byte> message, std::uint64_t n, bool reads) {
  check_stamp(message, n);
  if (!reads) return;
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + sizeof sum <= message.size(); at += sizeof sum) {
    std::uint64_t word;
    std::memcpy(&word, message.data() + at, sizeof word);
    sum += word;
  }
  asm volatile("" : : "r"(sum));  // or the compiler would leave the loop out
}

task<void> windows_one_way(const side& me, const kinds_buffers& buffers, const kinds_transfer& what,
                           std::size_t count, std::uint64_t& n) {
  scope fly;
  std::byte answer{};
  for (std::size_t w = 0; w != count; ++w, n += what.window) {
    for (std::size_t i = 0; i != what.window; ++i) {
      if (me.rank == 0) {
        stamp(buffers[n + i], n + i);
        fly.start(me.peer.send(buffers[n + i], data_tag));
      } else {
        fly.start(me.peer.recv(buffers[n + i], data_tag));
      }
    }
    co_await fly.join();
    if (me.rank == 0) {
      co_await me.peer.recv({&answer, 1}, ack_tag);
    } else {
      for (std::size_t i = 0; i != what.window; ++i) look_at(buffers[n + i], n + i, what.reads);
      co_await me.peer.send({&answer, 1}, ack_tag);
    }
  }
}

task<void> there_and_back(const side& me, const kinds_buffers& out, const kinds_buffers& in,
                          const kinds_transfer& what, std::size_t count, std::uint64_t& n) {
  for (std::size_t i = 0; i != count; ++i, ++n) {
    if (me.rank == 0) {
      stamp(out[n], n);
      co_await me.peer.send(out[n], data_tag);
    }
    co_await me.peer.recv(in[n], data_tag);
    look_at(in[n], n, what.reads);
    if (me.rank == 0) continue;
    stamp(out[n], n);
    co_await me.peer.send(out[n], data_tag);
  }
}

}  // namespace

plan kinds_transfer::loops(std::size_t size, double effort) const {
  return plan{.warm_up = 2,
              .batches = 5,
              .per_batch =
                  std::clamp<std::size_t>((std::size_t{2} << 20) / (in_flight() * size + 1), 1, 40)}
      .scaled(effort);
}

double kinds_transfer::figure(std::size_t size, double us, std::size_t repetitions) const {
  if (there_and_back()) return us / static_cast<double>(2 * repetitions);
  return static_cast<double>(size * window * repetitions) / us;
}

kinds_buffers::kinds_buffers(context& ctx, bool shared, const kinds_transfer& what,
                             std::size_t size)
    : size_(size), stride_((size + 63) / 64 * 64), count_(what.in_flight()) {
  if (what.cold) count_ = std::max(count_, cold_bytes / std::max<std::size_t>(stride_, 1));
  if (shared)
    all_ = shared_.emplace(ctx, count_ * stride_).bytes();
  else
    all_ = heap_.emplace(1, count_ * stride_)[0];
  for (std::size_t i = 0; i != count_; ++i) fill((*this)[i], i + 1);
}

task<std::vector<double>> kinds_samples(side me, bool from_shared, std::size_t size,
                                        kinds_transfer what, plan loops) {
  const bool both = what.there_and_back();
  const kinds_buffers out(me.ctx, from_shared && (both || me.rank == 0), what, size);
  const kinds_buffers in(me.ctx, false, what, size);
  std::uint64_t n = 0;
  const auto some = [&](std::size_t count) {
    return both ? there_and_back(me, out, in, what, count, n)
                : windows_one_way(me, me.rank == 0 ? out : in, what, count, n);
  };
  co_await barrier(me);
  co_await some(loops.warm_up);
  std::vector<double> samples;
  for (std::size_t batch = 0; batch != loops.batches; ++batch) {
    const auto start = now_ns();
    co_await some(loops.per_batch);
    samples.push_back(what.figure(size, us_between(start, now_ns()), loops.per_batch));
  }
  for (std::size_t i = 0; i != std::min<std::size_t>(in.count(), 64); ++i) verify(in[i], i + 1);
  co_await barrier(me);
  co_return samples;
}

std::vector<double> kinds_plain_copies(std::size_t size, kinds_transfer what, plan loops) {
  heap_buffers from(what.in_flight(), size), to(what.in_flight(), size);
  std::vector<double> samples;
  for (std::size_t batch = 0; batch != loops.batches; ++batch) {
    const auto start = now_ns();
    const std::size_t copies = what.there_and_back() ? 2 : what.window;
    for (std::size_t i = 0; i != copies * loops.per_batch; ++i) {
      const auto source = from.next(), target = to.next();
      stamp(source, i);
      std::memcpy(target.data(), source.data(), size);
      look_at(target, i, what.reads);
    }
    samples.push_back(what.figure(size, us_between(start, now_ns()), loops.per_batch));
  }
  return samples;
}

}  // namespace weft::bench
