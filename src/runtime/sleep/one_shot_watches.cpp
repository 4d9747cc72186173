// SPDX-License-Identifier: Apache-2.0
#include "runtime/sleep/one_shot_watches.hpp"

#include <sys/epoll.h>

#include <iterator>
#include <utility>

namespace weft::runtime {

one_shot_watches::watch::watch(one_shot_watches& o, std::uint64_t n,
                               std::shared_ptr<const unique_fd> f,
                               std::function<void()> then) noexcept
    : fd_wait(f->get(), EPOLLIN, urgency::patient),
      owner(o),
      number(n),
      fd(std::move(f)),
      fire(std::move(then)) {}

std::uint64_t one_shot_watches::add(std::shared_ptr<const unique_fd> fd,
                                    std::function<void()> fire) {
  const std::lock_guard lock(mutex_);
  watch& w = watches_.emplace_back(*this, ++last_number_, std::move(fd), std::move(fire));
  w.place = std::prev(watches_.end());
  // Without memory for it, or at the context's end, it never fires. The end of the peer's channel
  // tells of the same event, later.
  static_cast<void>(waits_.start(w));
  return last_number_;
}

void one_shot_watches::remove(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  for (watch& w : watches_) {
    if (w.number != number) continue;
    w.wanted = false;
    return waits_.cancel(w);
  }
}

void one_shot_watches::watch::on_end(errc status, const std::string& /*why*/) noexcept {
  std::list<watch> gone;  // destroyed without the mutex: `fire` may own objects with watches
  std::unique_lock lock(owner.mutex_);
  if (wanted && status == errc::ok) {
    lock.unlock();
    if (fire) fire();
    lock.lock();
  }
  gone.splice(gone.end(), owner.watches_, place);
  lock.unlock();
}

}  // namespace weft::runtime
