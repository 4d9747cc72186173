// SPDX-License-Identifier: Apache-2.0
#include "runtime/one_shot_watches.hpp"

#include <sys/epoll.h>

#include <exception>
#include <utility>

namespace weft::runtime {

std::uint64_t one_shot_watches::add(unique_fd fd, std::function<void()> fire) {
  const std::lock_guard lock(mutex_);
  fresh_.emplace_back(*this, ++last_number_, std::move(fd), std::move(fire));
  news_.store(true, std::memory_order_release);
  return last_number_;
}

void one_shot_watches::remove(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  for (std::list<watch>* all : {&fresh_, &watched_})
    for (watch& w : *all)
      if (w.number == number) w.wanted = false;
  news_.store(true, std::memory_order_release);
}

void one_shot_watches::watch::on_ready(std::uint32_t /*events*/) noexcept {
  const std::lock_guard lock(owner.mutex_);
  in->remove(fd.get());
  in = nullptr;
  ready = true;
  owner.ready_.store(true, std::memory_order_relaxed);
}

void one_shot_watches::fire_ready() noexcept {
  if (!ready_.exchange(false, std::memory_order_relaxed)) return;
  std::list<watch> due;
  {
    const std::lock_guard lock(mutex_);
    for (auto w = watched_.begin(); w != watched_.end();) {
      const auto here = w++;
      if (here->ready) due.splice(due.end(), watched_, here);
    }
    due.remove_if([](const watch& w) { return !w.wanted; });
  }
  for (const watch& w : due)
    if (w.fire) w.fire();
}

void one_shot_watches::take_up(wait_set& set) {
  if (!news_.exchange(false, std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  watched_.remove_if([&](const watch& w) {
    if (w.in && !w.wanted) set.remove(w.fd.get());
    return !w.wanted;
  });
  fresh_.remove_if([](const watch& w) { return !w.wanted; });
  for (watch& w : fresh_) {
    try {
      set.add(w.fd.get(), EPOLLIN, w);
      w.in = &set;
    } catch (const std::exception&) {
      // No descriptor or memory is left. The channel's end tells of the same event, later.
      news_.store(true, std::memory_order_relaxed);
    }
  }
  watched_.splice(watched_.end(), fresh_);
}

void one_shot_watches::withdraw(wait_set& set) noexcept {
  const std::lock_guard lock(mutex_);
  for (auto w = watched_.begin(); w != watched_.end();) {
    const auto here = w++;
    if (!here->in) continue;  // found readable: fire_ready will come
    set.remove(here->fd.get());
    here->in = nullptr;
    fresh_.splice(fresh_.end(), watched_, here);
  }
  news_.store(true, std::memory_order_release);
}

}  // namespace weft::runtime
