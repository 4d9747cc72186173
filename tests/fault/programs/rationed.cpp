// SPDX-License-Identifier: Apache-2.0
// All ranks send to all ranks, and some memory allocations of rank 1 fail: WEFT_TEST_REFUSE_FROM is
// the number of the first allocation that fails, counted over all its threads from the beginning of
// main, and WEFT_TEST_REFUSE how many fail from there on. The program ends with 0, or says why it
// cannot and ends with 1, for all of these allocations.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

std::atomic<std::uint64_t> taken = 0;
std::atomic<std::uint64_t> refused_from = std::numeric_limits<std::uint64_t>::max();
std::atomic<std::uint64_t> refused_to = std::numeric_limits<std::uint64_t>::max();

bool is_refused() noexcept {
  const std::uint64_t n = taken.fetch_add(1, std::memory_order_relaxed);
  return n >= refused_from.load(std::memory_order_relaxed) &&
         n < refused_to.load(std::memory_order_relaxed);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* memory = is_refused() ? nullptr : std::malloc(bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return is_refused() ? nullptr : std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace weft;
using bytes = std::vector<std::byte>;

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// From now on, and on rank 1 only.
void ration() {
  if (number_in("WEFT_RANK", 0) != 1) return;
  const std::uint64_t from = number_in("WEFT_TEST_REFUSE_FROM", refused_from);
  const std::uint64_t many = number_in("WEFT_TEST_REFUSE", 1);
  taken = 0;
  refused_to = from > refused_to - many ? std::uint64_t{refused_to} : from + many;
  refused_from = from;
}

task<void> exchange(context& ctx) {
  const group world = ctx.world();
  for (const std::size_t size : {0u, 8u, 1000u, 60'000u, 1'000'000u}) {
    std::vector<bytes> out(world.size(), bytes(size)), in(world.size(), bytes(size));
    scope all;
    for (peer_id r = 0; r < world.size(); ++r) {
      all.start(world[r].recv(in[r], tag{size}));
      all.start(world[r].send(out[r], tag{size}));
    }
    co_await all.join();
  }
  co_await world.barrier();
}

}  // namespace

int main() {
  ration();
  int status = 0;
  try {
    context ctx;
    run(ctx, exchange(ctx));
  } catch (const std::exception& e) {
    std::cerr << "rationed: " << e.what() << std::endl;
    status = 1;
  }
  std::cout << "allocations: " << taken << std::endl;
  return status;
}
