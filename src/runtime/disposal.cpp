// SPDX-License-Identifier: Apache-2.0
#include "runtime/disposal.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "runtime/own_thread.hpp"

namespace weft::runtime {

namespace {

// Memory that is freed within some tens of microseconds.
constexpr std::size_t little = std::size_t{1} << 20;
// How long the destructor waits for threads that are nearly done.
constexpr auto moment = std::chrono::milliseconds(100);

/// Memory files have seals, and no call on them waits. On no other file fstat may be called: a file
/// system in user space could hold the answer back.
bool closes_at_once(int fd) noexcept {
  struct stat info {};
  return ::fcntl(fd, F_GET_SEALS) >= 0 && ::fstat(fd, &info) == 0 &&
         static_cast<std::size_t>(info.st_blocks) <= little / 512;
}

}  // namespace

struct disposal::work {
  int fd = -1;
  void* at = nullptr;
  std::size_t size = 0;

  void run() const noexcept { at ? static_cast<void>(::munmap(at, size)) : void(::close(fd)); }
};

struct disposal::state {
  std::mutex mutex;
  std::condition_variable ended;
  std::vector<work> waiting;
  unsigned threads = 0;

  void run() noexcept {
    for (std::unique_lock lock(mutex);;) {
      if (waiting.empty()) {
        --threads;
        ended.notify_all();
        return;
      }
      const work next = waiting.back();
      waiting.pop_back();
      lock.unlock();
      next.run();
      lock.lock();
    }
  }
};

disposal::disposal() : state_(std::make_shared<state>()) {}

disposal::~disposal() {
  std::unique_lock lock(state_->mutex);
  state_->ended.wait_for(lock, moment, [this] { return state_->threads == 0; });
}

void disposal::close(int fd) noexcept {
  if (closes_at_once(fd))
    ::close(fd);
  else
    add({fd, nullptr, 0});
}

void disposal::unmap(void* at, std::size_t size) noexcept {
  if (size <= little)
    ::munmap(at, size);
  else
    add({-1, at, size});
}

/// Without memory or a thread the descriptor or mapping is left open: that is better than to block
/// here.
void disposal::add(const work& w) noexcept {
  try {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.push_back(w);
    if (state_->threads == most_threads) return;
    start_own_thread("weft-disposal", "thread that closes what peers sent", [s = state_] {
      s->run();
    }).detach();
    ++state_->threads;
  } catch (const std::exception&) {
    // The next call may find some.
  }
}

}  // namespace weft::runtime
