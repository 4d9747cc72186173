// SPDX-License-Identifier: Apache-2.0
#include "jobs/intruder.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <new>
#include <random>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "runtime/descriptors/fd.hpp"

namespace weft::bench {

struct intruder::controls {
  std::array<sockaddr_in, 8> places;
  std::atomic<std::uint32_t> count;  ///< of places
  std::atomic<bool> loose;
  std::atomic<std::uint64_t> made;
};

namespace {

// A silent connection stays until this many later ones: the load of a listener.
constexpr std::size_t stay = 32;

/// In turns, connections are silent, close at once, or send invalid bytes.
unique_fd visit(const sockaddr_in& place, std::uint64_t number, std::mt19937& random) {
  unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fd;
  static_cast<void>(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place));
  if (number % 3 == 1) return {};
  if (number % 3 == 2) {
    std::array<std::uint32_t, 16> nonsense{};
    for (auto& word : nonsense) word = static_cast<std::uint32_t>(random());
    static_cast<void>(::send(fd.get(), nonsense.data(), sizeof nonsense, MSG_NOSIGNAL));
  }
  return fd;
}

}  // namespace

intruder::intruder(double rate)
    : shared_([] {
        void* at = ::mmap(nullptr, sizeof(controls), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        return new (at) controls{};
      }()),
      pid_(::fork()) {
  if (pid_ < 0) throw std::system_error(errno, std::system_category(), "fork");
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  using clock = std::chrono::steady_clock;
  const std::chrono::duration<double> interval(1 / rate);
  std::mt19937 random(1);
  std::vector<unique_fd> there(stay);
  for (auto next = clock::now();;) {
    // Connections that are late are skipped.
    next = std::max(next + std::chrono::duration_cast<clock::duration>(interval), clock::now());
    std::this_thread::sleep_until(next);
    if (!shared_->loose) {
      for (auto& fd : there) fd = {};
      continue;
    }
    const std::uint64_t number = shared_->made;
    there[number % stay] = visit(shared_->places[number % shared_->count], number, random);
    shared_->made = number + 1;
  }
}

intruder::~intruder() {
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  ::munmap(shared_, sizeof(controls));
}

void intruder::aim_at(const sockaddr_in& place) {
  const std::uint32_t at = shared_->count.fetch_add(1);
  if (at >= shared_->places.size()) throw std::length_error("too many places for one intruder");
  shared_->places[at] = place;
}

void intruder::let_loose(bool yes) noexcept { shared_->loose = yes; }

std::uint64_t intruder::made() const noexcept { return shared_->made; }

}  // namespace weft::bench
