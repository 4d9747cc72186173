// SPDX-License-Identifier: Apache-2.0
#include "runtime/one_shot_watches.hpp"

#include <sys/epoll.h>

#include <exception>

namespace weft::runtime {

void one_shot_watches::add(unique_fd fd, std::function<void()> fire) {
  const std::lock_guard lock(mutex_);
  watch& w = fresh_.emplace_back();
  w.fd = std::move(fd);
  w.fire = std::move(fire);
}

void one_shot_watches::watch::on_ready(std::uint32_t /*events*/) noexcept {
  in->remove(fd.get());
  in = nullptr;
  if (fire) fire();
}

void one_shot_watches::take_up(wait_set& set) {
  watched_.remove_if([](const watch& w) { return w.in == nullptr; });
  std::list<watch> fresh;
  {
    const std::lock_guard lock(mutex_);
    fresh.swap(fresh_);
  }
  for (watch& w : fresh) {
    try {
      set.add(w.fd.get(), EPOLLIN, w);
      w.in = &set;
    } catch (const std::exception&) {
      // There is no descriptor or memory left. The channel's end tells of the same event, later.
    }
  }
  watched_.splice(watched_.end(), fresh);
}

void one_shot_watches::withdraw(wait_set& set) noexcept {
  for (watch& w : watched_)
    if (w.in) set.remove(w.fd.get());
  watched_.clear();
}

}  // namespace weft::runtime
