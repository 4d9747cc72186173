// SPDX-License-Identifier: Apache-2.0
#include "gauge.hpp"

#include <linux/futex.h>
#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_HOSTILE_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_HOSTILE_ASAN
#endif
#endif
#ifdef WEFT_HOSTILE_ASAN
#include <sanitizer/allocator_interface.h>
#endif

namespace hostile {

namespace {

std::size_t entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t bytes_of_heap() {
#ifdef WEFT_HOSTILE_ASAN
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
#endif
}

void wait_while(std::atomic<std::uint32_t>& word, std::uint32_t is, std::int64_t nanoseconds) {
  const timespec most{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, is, &most, nullptr, 0);
}

void wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace

bool mapped_memory_counts() noexcept {
#ifdef WEFT_HOSTILE_ASAN
  return false;
#else
  return true;
#endif
}

holdings held_here(bool all) {
  holdings h;
  h.heap = bytes_of_heap();
  h.descriptors = entries("/proc/self/fd");
  h.threads = entries("/proc/self/task");
  if (all) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) ++h.mappings;
  }
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  h.resident = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return h;
}

gauge::gauge(board& on) : board_(on), thread_([this] { answer(); }) {}

gauge::~gauge() {
  over_ = true;
  ++board_.asked;
  wake(board_.asked);
  thread_.join();
}

void gauge::answer() {
  std::uint32_t heard = board_.answered;
  while (!over_) {
    const std::uint32_t asked = board_.asked;
    if (asked == heard) {
      wait_while(board_.asked, asked, 1'000'000'000);
      continue;
    }
    heard = asked;
    board_.reading = held_here(board_.asked_for_all != 0);
    board_.answered.store(asked, std::memory_order_release);
    wake(board_.answered);
  }
}

bool ask(board& on, holdings& told, bool all) {
  on.asked_for_all = all ? 1 : 0;
  const std::uint32_t number = ++on.asked;
  wake(on.asked);
  const std::int64_t until = now() + 60'000'000'000;
  for (;;) {
    const std::uint32_t answered = on.answered.load(std::memory_order_acquire);
    if (answered == number) break;
    if (now() > until) return false;
    wait_while(on.answered, answered, 100'000'000);
  }
  told = on.reading;
  return true;
}

}  // namespace hostile
