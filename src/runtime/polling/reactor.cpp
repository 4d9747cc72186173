// SPDX-License-Identifier: Apache-2.0
#include "runtime/polling/reactor.hpp"

#include <sys/epoll.h>

#include <utility>

#include <weft/error.hpp>

namespace weft::runtime {

reactor::reactor(std::unique_ptr<wait_set> set, event_fd& bell, wakeup_receiver& wakeup,
                 handles how)
    : set_(std::move(set)), how_(how), bell_watcher_(bell), wakeup_watcher_(wakeup) {
  set_->add(bell.fd(), EPOLLIN, bell_watcher_);
  set_->add(wakeup.fd(), EPOLLIN, wakeup_watcher_);
}

void reactor::add(pollable& s) {
  if (s.handle() < 0) return;
  handle_watcher& h = handles_.emplace_back(s, *set_, how_ == handles::stay);
  if (how_ == handles::stay) h.watch();
}

bool reactor::expects_handles() const noexcept {
  for (const handle_watcher& h : handles_)
    if (h.worth_watching()) return true;
  return false;
}

void reactor::watch_handles() noexcept {
  for (handle_watcher& h : handles_) {
    if (!h.worth_watching()) continue;
    try {
      h.watch();
    } catch (const error&) {
      // No memory for it: the caller polls when it comes back.
    }
  }
}

}  // namespace weft::runtime
