// SPDX-License-Identifier: Apache-2.0
#include "runtime/sleep/fd_waits.hpp"

#include <cstddef>
#include <new>
#include <string>
#include <utility>

namespace weft::runtime {

using detail::fd_wait;

void fd_waits::list::push(fd_wait& w) noexcept {
  w.before_ = last_;
  w.after_ = nullptr;
  (last_ ? last_->after_ : first_) = &w;
  last_ = &w;
}

void fd_waits::list::remove(fd_wait& w) noexcept {
  (w.before_ ? w.before_->after_ : first_) = w.after_;
  (w.after_ ? w.after_->before_ : last_) = w.before_;
}

errc fd_waits::start(fd_wait& w) noexcept {
  const std::lock_guard lock(mutex_);
  if (w.was_cancelled()) return errc::stopped;
  if (closed_) return errc::closed;
  try {
    descriptor& d = row_of(w.fd_);
    d.waiting.push(w);
    w.waiting_ = true;
    if (w.urgency_ == fd_wait::urgency::prompt) prompt_.fetch_add(1, std::memory_order_relaxed);
    // Also if the descriptor is in the set: its owner may have closed it and opened another file by
    // the same number, of which an epoll set knows nothing.
    note_change(d);
    return errc::ok;
  } catch (const std::bad_alloc&) {
    return errc::out_of_memory;
  }
}

bool fd_waits::cancel(fd_wait& w) noexcept {
  const std::lock_guard lock(mutex_);
  if (w.cancelled_.exchange(true, std::memory_order_relaxed) || !w.waiting_) return false;
  descriptor& d = rows_.find(w.fd_)->second;
  d.waiting.remove(w);
  d.leaving.push(w);
  note_change(d);
  return true;
}

fd_waits::descriptor& fd_waits::row_of(int fd) {
  changed_.reserve(2 * (rows_.size() + 1));
  return rows_.try_emplace(fd, *this, fd).first->second;
}

void fd_waits::note_change(descriptor& d) noexcept {
  if (!std::exchange(d.changed, true)) changed_.push_back(&d);
  // Ordered before the look at whether the caller sleeps (progress_core::ring_for_waits).
  // An exchange is so in emulators as well, where a load may pass a store.
  news_.exchange(true, std::memory_order_seq_cst);
}

void fd_waits::end(list& from, fd_wait& w, errc status, const char* why) noexcept {
  from.remove(w);
  w.waiting_ = false;
  w.status_ = status;
  try {
    w.why_ = why;
  } catch (const std::bad_alloc&) {
    // The status tells most of it.
  }
  if (w.urgency_ == fd_wait::urgency::prompt) prompt_.fetch_sub(1, std::memory_order_relaxed);
  ended_.push(w);
  has_ended_.store(true, std::memory_order_relaxed);
}

void fd_waits::end_all(list& from, errc status, const char* why) noexcept {
  while (fd_wait* w = from.first()) end(from, *w, status, why);
}

void fd_waits::take_out(descriptor& d) noexcept {
  if (d.in) std::exchange(d.in, nullptr)->remove(d.fd);
  end_all(d.leaving, errc::stopped);
}

void fd_waits::put_in(descriptor& d, wait_set& set) noexcept {
  std::uint32_t events = 0;
  for (const fd_wait* w = d.waiting.first(); w; w = w->after_) events |= w->events_;
  if (events == 0) return;
  try {
    set.add(d.fd, events, d);
    d.in = &set;
  } catch (const error& e) {
    fail(d, e.kind(), e.what());
  } catch (const std::bad_alloc&) {
    fail(d, errc::out_of_memory, "");
  }
}

/// Ends the prompt waits; the others are tried again by the next take_up.
void fd_waits::fail(descriptor& d, errc status, const char* why) noexcept {
  for (fd_wait* w = d.waiting.first(); w;) {
    fd_wait& here = *std::exchange(w, w->after_);
    if (here.urgency_ == fd_wait::urgency::prompt) end(d.waiting, here, status, why);
  }
  if (d.waiting.first()) note_change(d);
}

void fd_waits::descriptor::on_ready(std::uint32_t events) noexcept {
  const std::lock_guard lock(owner.mutex_);
  owner.ready_count_.fetch_add(1, std::memory_order_relaxed);
  wait_set& set = *in;
  owner.take_out(*this);
  for (fd_wait* w = waiting.first(); w;) {
    fd_wait& here = *std::exchange(w, w->after_);
    if ((events & (here.events_ | EPOLLERR | EPOLLHUP)) != 0) owner.end(waiting, here, errc::ok);
  }
  owner.put_in(*this, set);
}

void fd_waits::take_up(wait_set& set) noexcept {
  if (!news_.exchange(false, std::memory_order_seq_cst)) return;
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<std::ptrdiff_t>(changed_.size());
  for (std::ptrdiff_t i = 0; i != count; ++i) {
    descriptor& d = *changed_[static_cast<std::size_t>(i)];
    d.changed = false;
    take_out(d);
    put_in(d, set);
  }
  changed_.erase(changed_.begin(), changed_.begin() + count);
}

void fd_waits::end_waits() noexcept {
  if (!has_ended_.exchange(false, std::memory_order_relaxed)) return;
  list due;
  {
    const std::lock_guard lock(mutex_);
    due = std::exchange(ended_, {});
  }
  for (fd_wait* w = due.first(); w;) {
    fd_wait& here = *std::exchange(w, w->after_);
    const std::string why = std::move(here.why_);  // `here` may be gone before on_end returns
    here.on_end(here.status_, why);
  }
}

void fd_waits::withdraw(wait_set& set) noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& [fd, d] : rows_) {
    if (d.in != &set) continue;
    set.remove(fd);
    d.in = nullptr;
    note_change(d);
  }
}

void fd_waits::close(wait_set& set) noexcept {
  withdraw(set);
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (auto& [fd, d] : rows_) {
    end_all(d.leaving, errc::stopped);
    end_all(d.waiting, errc::closed);
  }
}

}  // namespace weft::runtime
