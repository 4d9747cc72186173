// SPDX-License-Identifier: Apache-2.0
// Memory that peers may reach: its beginning and end, and what its owner is told.
#include <chrono>
#include <thread>
#include <utility>

#include "proto/messenger.hpp"

namespace weft::proto {

std::uint64_t messenger::add_region(mutable_buffer memory, rights permissions) {
  const runtime::engine::holder hold(engine_);
  const std::uint64_t key = regions_.add(memory, permissions);
  if (regions_.all().size() == 1) engine_.pending(region_keepalive_);
  return key;
}

void messenger::add_region(const region_name& name, mutable_buffer memory, rights permissions) {
  const runtime::engine::holder hold(engine_);
  regions_.add(name, memory, permissions);
  if (regions_.all().size() == 1) engine_.pending(region_keepalive_);
}

void messenger::remove_region(std::uint64_t key) noexcept {
  regions_.remove(key);
  if (regions_.all().empty()) engine_.withdraw(region_keepalive_);
}

/// \return null: it is over; else what its end waits for
region_entry* messenger::begin_end(std::uint64_t key) noexcept {
  const auto found = regions_.all().find(key);
  if (found == regions_.all().end()) return nullptr;
  region_entry& r = found->second;
  r.ending = true;
  end_notified(r);
  if (r.granted != 0) return &r;
  remove_region(key);
  return nullptr;
}

/// The thread that runs the context may be away for long, or poll by calls: so this looks by
/// itself.
void messenger::end_region(std::uint64_t key) noexcept {
  for (unsigned looks = 0;; ++looks) {
    {
      const runtime::engine::holder hold(engine_);
      if (!begin_end(key)) return;
    }
    engine_.poll_once();
    if (looks < 1000)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

bool messenger::start(detail::region_end_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  region_entry* const r = begin_end(op.key);
  if (!r) return true;
  if (r->awaits) {
    op.status = errc::invalid_argument;
    return true;
  }
  r->awaits = &op;
  engine_.pending(op);
  return false;
}

void messenger::granted_no_more(std::uint64_t key) noexcept {
  region_entry& r = regions_.all().at(key);
  if (--r.granted != 0 || !r.ending) return;
  if (r.awaits) engine_.end(*r.awaits);
  remove_region(key);
}

bool messenger::leave(region_entry& in, const notification& what) noexcept {
  if (!in.waiting.empty()) {
    detail::notified_operation& first = *in.waiting.front();
    in.waiting.pop_front();
    first.waiting = false;
    first.got = what;
    engine_.end(first);
    return true;
  }
  if (in.unheard.size() == most_notifications) return false;
  try {
    in.unheard.push_back(what);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void messenger::end_notified(region_entry& r) noexcept {
  while (!r.waiting.empty()) {
    detail::notified_operation& first = *r.waiting.front();
    r.waiting.pop_front();
    first.waiting = false;
    engine_.end(first, errc::closed);
  }
}

bool messenger::start(detail::notified_operation& op) noexcept {
  region_entry* const r = regions_.find(op.key);
  if (op.cancel_requested || !r) {
    op.status = op.cancel_requested ? errc::stopped : errc::closed;
    return true;
  }
  if (!r->unheard.empty()) {
    op.got = r->unheard.front();
    r->unheard.pop_front();
    return true;
  }
  if (over_) {
    op.status = errc::closed;
    return true;
  }
  try {
    r->waiting.push_back(&op);
  } catch (const std::bad_alloc&) {
    op.status = errc::out_of_memory;
    return true;
  }
  op.waiting = true;
  engine_.pending(op);
  return false;
}

void messenger::cancel(detail::notified_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  op.cancel_requested = true;
  if (!std::exchange(op.waiting, false)) return;
  std::erase(regions_.find(op.key)->waiting, &op);
  engine_.end(op, errc::stopped);
}

}  // namespace weft::proto

namespace weft::detail {

bool region_end_operation::start() noexcept { return !messenger || messenger->start(*this); }

bool notified_operation::start() noexcept {
  if (!messenger) return start_held();
  const runtime::engine::holder hold(messenger->engine());
  return start_held();
}

bool notified_operation::start_held() noexcept {
  if (messenger) return messenger->start(*this);
  status = errc::invalid_argument;
  return true;
}

void notified_operation::cancel() noexcept {
  if (messenger) messenger->cancel(*this);
}

std::string notified_operation::explain() const {
  if (!messenger) return "this region was moved from, and has no memory";
  if (status == errc::closed) return "the region, or its context, has ended";
  return sentence_of(status);
}

}  // namespace weft::detail
