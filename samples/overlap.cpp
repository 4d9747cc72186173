// SPDX-License-Identifier: Apache-2.0
// overlap: send, compute, collect. The messages move while the thread that sent them computes and
// makes no call into weft.    weft-run -n 2 overlap
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using clock = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;

constexpr tag question{1}, answer{2};
constexpr std::size_t size = std::size_t{16} << 20;
constexpr int rounds = 10;

/// Keeps the thread busy for some tens of milliseconds.
void compute() {
  std::uint64_t x = 1;
  for (int i = 0; i < 20'000'000; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  [[maybe_unused]] volatile std::uint64_t result = x;  // volatile: it must not be optimised away
}

/// Rank 1: receives a question, inverts its bytes, sends them back.
task<void> help(endpoint customer) {
  std::vector<std::byte> work(size);
  for (int i = 0; i < 2 * rounds; ++i) {
    co_await customer.recv(work, question);
    for (std::byte& b : work) b = ~b;
    co_await customer.send(work, answer);
  }
}

struct times {
  milliseconds all;     ///< until the answer and, if rank 0 computed, the result were there
  milliseconds waited;  ///< the part of `all` after computing
};

/// Rank 0: fetches an answer, and computes meanwhile or not.
task<times> ask(endpoint helper, const_buffer out, mutable_buffer in, bool meanwhile) {
  const clock::time_point start = clock::now();
  scope under_way;
  under_way.start(helper.recv(in, answer));
  under_way.start(helper.send(out, question));
  if (meanwhile) compute();
  const clock::time_point computed = clock::now();
  co_await under_way.join();
  const clock::time_point end = clock::now();
  co_return times{end - start, end - computed};
}

task<void> measure(endpoint helper) {
  std::vector<std::byte> out(size), in(size);
  milliseconds asking{1e9}, computing{1e9}, together{1e9}, waited{1e9};
  for (int i = 0; i < rounds; ++i) {
    std::ranges::fill(out, static_cast<std::byte>(i));
    asking = std::min(asking, (co_await ask(helper, out, in, false)).all);

    const clock::time_point start = clock::now();
    compute();
    computing = std::min<milliseconds>(computing, clock::now() - start);

    const times both = co_await ask(helper, out, in, true);
    together = std::min(together, both.all);
    waited = std::min(waited, both.waited);
    if (std::ranges::count(in, ~out[0]) != std::ssize(in)) throw std::runtime_error("wrong answer");
  }
  fmt::print("{} MiB there and back     {:7.3f} ms\n", size >> 20, asking.count());
  fmt::print("computing                {:7.3f} ms\n", computing.count());
  fmt::print("both, one after another  {:7.3f} ms\n", (asking + computing).count());
  fmt::print("send, compute, collect   {:7.3f} ms, of which {:.3f} ms waiting after computing\n",
             together.count(), waited.count());
  fmt::print("{:.1f} % of the messages' time is hidden\n", 100 - 100 * (waited / asking));
}

}  // namespace

int main() {
  try {
    context ctx;
    group world = ctx.world();
    if (world.size() < 2) throw std::runtime_error("it takes two: weft-run -n 2 overlap");
    if (world.rank() == 0 && world.size() > 2)
      fmt::print("two take part, and this job has {} ranks\n", world.size());
    if (world.rank() == 0) run(ctx, measure(world[1]));
    if (world.rank() == 1) run(ctx, help(world[0]));
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "overlap: {}\n", e.what());
    return 1;
  }
}
