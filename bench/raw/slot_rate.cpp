// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <stdexcept>

#include "raw/raw.hpp"
#include "support/clock.hpp"
#include "support/pair.hpp"
#include "support/plan.hpp"
#include "support/spin.hpp"

namespace weft::bench::raw {
namespace {

constexpr std::size_t slots = 256;
/// The interval at which the consumer publishes its position: each one costs the producer a cache
/// miss.
constexpr std::size_t tell_every = slots / 4;

struct slot_ring {
  struct alignas(64) slot {
    std::atomic<std::uint64_t> flag{0};  // 1 + the number of the message in this slot
    std::uint64_t payload = 0;
  };
  slot ring[slots];
  alignas(64) std::atomic<std::uint64_t> consumed{0};
};

void produce(slot_ring& shared, std::uint64_t from, std::uint64_t to, std::uint64_t& consumed) {
  for (std::uint64_t n = from; n < to; ++n) {
    if (n - consumed == slots)
      spin_until([&] {
        consumed = shared.consumed.load(std::memory_order_acquire);
        return n - consumed < slots;
      });
    auto& slot = shared.ring[n % slots];
    slot.payload = n;
    slot.flag.store(n + 1, std::memory_order_release);
  }
}

void consume(slot_ring& shared, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t n = from; n < to; ++n) {
    auto& slot = shared.ring[n % slots];
    while (slot.flag.load(std::memory_order_acquire) != n + 1) {
    }
    if (slot.payload != n) throw std::runtime_error("payload wrong in the slot ring");
    if ((n + 1) % tell_every == 0) shared.consumed.store(n + 1, std::memory_order_release);
  }
}

}  // namespace

std::vector<double> slot_rate_mmsg_s(double effort) {
  constexpr std::size_t window = 64;  // a sample covers as many messages as that of a library
  const plan loops = window_plan(8, window, effort);
  const auto samples = run_pair(
      {.name = "raw slot_rate", .shared_bytes = sizeof(slot_ring), .max_samples = loops.batches},
      [&](forked_member& self) {
        auto& shared = *reinterpret_cast<slot_ring*>(self.shared().data());
        const std::uint64_t per_batch = loops.per_batch * window;
        std::uint64_t n = 0;
        std::uint64_t consumed = 0;
        const auto messages = [&](std::uint64_t count) {
          if (self.rank() == 0)
            produce(shared, n, n + count, consumed);
          else
            consume(shared, n, n + count);
          n += count;
        };
        messages(loops.warm_up * window);
        for (std::size_t batch = 0; batch < loops.batches; ++batch) {
          const auto start = now_ns();
          messages(per_batch);
          if (self.rank() == 1)
            self.report(static_cast<double>(per_batch) / us_between(start, now_ns()));
        }
      });
  return samples[1];
}

}  // namespace weft::bench::raw
