// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <new>

#include "raw/raw.hpp"
#include "support/clock.hpp"
#include "support/pair.hpp"
#include "support/plan.hpp"
#include "support/spin.hpp"

namespace weft::bench::raw {
namespace {

/// One line each way. The payload is the flag: it cannot be seen half-written.
struct two_lines {
  struct alignas(64) line {
    std::atomic<std::uint64_t> value{0};
  };
  line to[2];
};

}  // namespace

std::vector<double> cache_line_us(double effort) {
  const plan loops = latency_plan(8, effort);
  const auto samples = run_pair(
      {.name = "raw cache_line", .shared_bytes = sizeof(two_lines), .max_samples = loops.batches},
      [&](forked_member& self) {
        auto& lines = *reinterpret_cast<two_lines*>(self.shared().data());
        auto& mine = lines.to[self.rank()].value;
        auto& theirs = lines.to[1 - self.rank()].value;
        std::uint64_t n = 0;
        const auto rounds = [&](std::size_t count) {
          for (std::size_t i = 0; i < count; ++i) {
            ++n;
            if (self.rank() == 0) theirs.store(n, std::memory_order_release);
            while (mine.load(std::memory_order_acquire) != n) {
            }
            if (self.rank() == 1) theirs.store(n, std::memory_order_release);
          }
        };
        rounds(loops.warm_up);
        for (std::size_t batch = 0; batch < loops.batches; ++batch) {
          const auto start = now_ns();
          rounds(loops.per_batch);
          if (self.rank() == 0)
            self.report(us_between(start, now_ns()) / 2.0 / static_cast<double>(loops.per_batch));
        }
      });
  return samples[0];
}

}  // namespace weft::bench::raw
