// SPDX-License-Identifier: Apache-2.0
#include "measure/core_distance.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace weft::bench::page {
namespace {

using clock = std::chrono::steady_clock;

constexpr unsigned rounds = 2000;  // of a batch
constexpr int batches = 5;

struct alignas(64) line {
  std::atomic<unsigned> value{0};
};

/// The first two that this process may use.
std::vector<int> two_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core != CPU_SETSIZE && cores.size() != 2; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

/// On the calling thread. A neighbour on its core would only make the distance longer: the least of
/// several batches counts.
void stay_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

void await(const line& l, unsigned value) {
  while (l.value.load(std::memory_order_acquire) != value) {
  }
}

}  // namespace

std::optional<double> core_distance::measure() {
  const std::vector<int> cores = two_cores();
  if (cores.size() != 2) return {};
  line there, back;
  double least = 0;
  std::thread answers([&] {
    stay_on(cores[1]);
    for (unsigned n = 1; n <= rounds * batches; ++n) {
      await(there, n);
      back.value.store(n, std::memory_order_release);
    }
  });
  std::thread asks([&] {
    stay_on(cores[0]);
    unsigned n = 0;
    for (int i = 0; i != batches; ++i) {
      const auto begun = clock::now();
      for (unsigned left = rounds; left != 0; --left) {
        there.value.store(++n, std::memory_order_release);
        await(back, n);
      }
      const std::chrono::duration<double, std::nano> took = clock::now() - begun;
      const double one = took.count() / rounds / 2;
      least = least == 0 ? one : std::min(least, one);
    }
  });
  asks.join();
  answers.join();
  least_ = least_ == 0 ? least : std::min(least_, least);
  return least;
}

std::optional<double> core_distance::come_near() {
  const auto until = clock::now() + patience_;
  for (;;) {
    const auto now = measure();
    if (!now || *now <= far * least_ || clock::now() >= until) return now;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace weft::bench::page
