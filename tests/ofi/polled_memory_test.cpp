// SPDX-License-Identifier: Apache-2.0
// Memory that its owner polls and writes while peers write it, as OpenSHMEM's collectives do.
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "memory.hpp"

using namespace ofi_test;

// The application writes the word as soon as it sees what the peer wrote: a second store by the
// provider would undo that.
TEST_CASE("ofi: a word that a peer writes is written once", "[memory]") {
  pair p({}, 0);
  alignas(8) std::array<std::byte, 8> there{};
  const exposed mine(p.b, there);
  const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(there.data()));
  std::atomic<std::uint64_t> seen{0};
  std::atomic<bool> twice{false};
  const std::jthread application([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const std::uint64_t now = word.exchange(0);
      if (now != 0 && now == seen.exchange(now)) twice = true;
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (std::uint64_t i = 1; i <= 200'000 && std::chrono::steady_clock::now() < end; ++i) {
    REQUIRE(fi_inject_write(p.a.ep.get(), &i, sizeof i, p.to_b, 0, mine.key()) == 0);
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (seen.load() < i && !twice.load()) {
      pair::move(p.a);
      pair::move(p.b);
      REQUIRE(std::chrono::steady_clock::now() < late);
    }
    if (twice.load()) break;
  }
  CHECK_FALSE(twice.load());
}

// As the flags of OpenSHMEM's collectives: who waits reads memory, and calls nothing.
TEST_CASE("ofi: a write arrives though neither side calls libfabric any more", "[memory]") {
  pair p({}, 0);
  alignas(8) std::array<std::byte, 8> there{};
  const exposed mine(p.b, there);
  const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(there.data()));
  const bool own = GENERATE(true, false);
  CAPTURE(own);
  const side& from = own ? p.b : p.a;
  const fi_addr_t to = own ? p.b.meet(p.b) : p.to_b;
  const auto arrives = [&](std::uint64_t value) {
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (word.load() != value && std::chrono::steady_clock::now() < late) {
    }
    return word.load() == value;
  };
  for (std::uint64_t i = 1; i <= 300; ++i) {
    // Now and then all threads of both sides come to rest, which cannot be seen from here.
    if (i % 30 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (i % 7 == 0) pair::move(p.b);
    REQUIRE(fi_inject_write(from.ep.get(), &i, sizeof i, to, 0, mine.key()) == 0);
    REQUIRE(arrives(i));
  }
}
