// SPDX-License-Identifier: Apache-2.0
#include "runtime/flags/flag_waits.hpp"

#include <utility>
#include <weft/error.hpp>

#include "runtime/completion/completion_queue.hpp"

namespace weft {

bool flag_request::try_now() const noexcept { return segment->have(range, value); }

bool flag_operation::start() noexcept { return request.waits->start(*this); }
void flag_operation::cancel() noexcept { request.waits->cancel(*this); }

std::string flag_operation::explain() const {
  if (why_) return *why_;
  return status == errc::stopped ? "the wait for flags in shared memory was stopped on request"
                                 : sentence_of(status);
}

}  // namespace weft

namespace weft::runtime {

/// Goes past the flags that have the value. \return whether all have
bool flag_waits::look(flag_operation& op) noexcept {
  const flag_request& r = op.request;
  for (; op.next_ != r.range.first + r.range.count; ++op.next_)
    if (r.segment->at(op.next_).value.load(std::memory_order_acquire) < r.value) return false;
  return true;
}

unsigned flag_waits::poll() noexcept {
  unsigned ended = 0;
  for (flag_segment** at = &first_; *at;) {
    flag_segment& s = **at;
    ended += poll(s);
    if (s.waiting_ || s.announced_) {
      at = &s.after_;
    } else {
      *at = s.after_;
      s.is_listed_ = false;
    }
  }
  return ended;
}

/// In the order in which they began.
unsigned flag_waits::poll(flag_segment& s) noexcept {
  unsigned ended = 0;
  for (flag_operation** at = &s.waiting_; *at;) {
    flag_operation& op = **at;
    const bool has_come = look(op);
    if (!has_come && s.failed_ == errc::ok) {
      at = &op.after_;
      continue;
    }
    *at = op.after_;
    if (!has_come) op.why_ = s.why_;
    end(op, has_come ? errc::ok : s.failed_);
    ++ended;
  }
  return ended;
}

void flag_waits::end(flag_operation& op, errc status) noexcept {
  op.waits_ = false;
  completions_.remove_pending(op);
  completions_.push(op, status);
}

void flag_waits::announce(bool caller) noexcept {
  for (flag_segment* s = first_; s; s = s->after_) {
    const flag_operation* only = nullptr;
    bool several = false;
    for (const flag_operation* op = s->waiting_; op; op = op->after_) {
      if (!caller && !op->on) continue;
      several = only != nullptr;
      only = op;
    }
    if (!only) continue;
    if (s->announced_) s->withdraw();
    announced_ = true;
    s->announce(several ? flag_range{} : only->request.range, only->request.value, caller);
  }
}

void flag_waits::withdraw_all() noexcept {
  announced_ = false;
  for (flag_segment* s = first_; s; s = s->after_)
    if (s->announced_) s->withdraw();
}

bool flag_waits::any_has_come() noexcept {
  for (flag_segment* s = first_; s; s = s->after_)
    for (flag_operation* op = s->waiting_; op; op = op->after_)
      if (s->failed_ != errc::ok || look(*op)) return true;
  return false;
}

bool flag_waits::add(flag_operation& op) noexcept {
  flag_segment& s = *op.request.segment;
  const bool has_come = look(op);
  op.status = has_come ? errc::ok : op.stopped_ ? errc::stopped : s.failed_;
  if (!has_come && !op.stopped_) op.why_ = s.why_;
  if (has_come || op.status != errc::ok) return false;
  flag_operation** last = &s.waiting_;
  while (*last) last = &(*last)->after_;
  *last = &op;
  op.after_ = nullptr;
  op.waits_ = true;
  if (s.is_listed_) return true;
  s.is_listed_ = true;
  s.after_ = first_;
  first_ = &s;
  return true;
}

bool flag_waits::cancel(flag_operation& op) noexcept {
  op.stopped_ = true;
  if (!op.waits_) return false;
  flag_operation** at = &op.request.segment->waiting_;
  while (*at != &op) at = &(*at)->after_;
  *at = op.after_;
  end(op, errc::stopped);
  return true;
}

void flag_waits::fail(flag_segment& s, errc why, std::shared_ptr<const std::string> text) noexcept {
  if (s.failed_ == errc::ok) {
    s.failed_ = why;
    s.why_ = std::move(text);
  }
  poll(s);
}

void flag_waits::forget(flag_segment& s) noexcept {
  if (!s.is_listed_) return;
  flag_segment** at = &first_;
  while (*at != &s) at = &(*at)->after_;
  *at = s.after_;
  s.is_listed_ = false;
}

std::optional<flag_waits::lacking> flag_waits::lacks(const flag_segment& s) noexcept {
  if (!s.waiting_) return std::nullopt;
  return lacking{s.waiting_->next_, s.waiting_->request.value};
}

bool flag_waits::lacks(const flag_segment& s, std::uint32_t n, std::uint32_t step) noexcept {
  for (const flag_operation* op = s.waiting_; op; op = op->after_) {
    const flag_request& r = op->request;
    for (std::uint32_t f = r.range.first; f != r.range.first + r.range.count; ++f)
      if (f % step == n && !s.have({f, 1}, r.value)) return true;
  }
  return false;
}

}  // namespace weft::runtime
