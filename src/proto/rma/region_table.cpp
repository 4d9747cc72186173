// SPDX-License-Identifier: Apache-2.0
#include "proto/rma/region_table.hpp"

#include <chrono>
#include <utility>

#include <weft/error.hpp>

#include "proto/frames/frames.hpp"
#include "runtime/os/brief_wait.hpp"

namespace weft {

remote_region remote_region::part(std::uint64_t from, std::uint64_t bytes) const {
  if (from > size || bytes > size - from)
    throw error(errc::invalid_argument, "this part lies beyond the end of the region");
  return {key, offset + from, bytes};
}

}  // namespace weft

namespace weft::proto {

std::uint64_t region_table::add(mutable_buffer memory, rights permissions) {
  const runtime::engine::holder hold(engine_);
  std::uint64_t key = secret_();
  while (key == 0 || regions_.contains(key)) key = secret_();
  insert({key, 0}, memory, permissions);
  return key;
}

void region_table::add(const region_name& name, mutable_buffer memory, rights permissions) {
  const runtime::engine::holder hold(engine_);
  insert(name, memory, permissions);
}

void region_table::insert(const region_name& name, mutable_buffer memory, rights permissions) {
  if (name.key == 0 || regions_.contains(name.key))
    throw error(errc::invalid_argument, name.key == 0
                                            ? "0 is the key of no region; choose another one"
                                            : "another region has this key; choose another one");
  if (name.first > size_mask || memory.size() > size_mask - name.first)
    throw error(errc::invalid_argument,
                "the last byte of this region would be counted as 2^48 or more");
  region_entry& r = regions_[name.key];
  r.memory = memory;
  r.first = name.first;
  r.permissions = permissions;
  if (regions_.size() == 1) engine_.pending(keepalive_);
}

void region_table::remove(std::uint64_t key) noexcept {
  regions_.erase(key);
  if (regions_.empty()) engine_.withdraw(keepalive_);
}

region_entry* region_table::find(std::uint64_t key) noexcept {
  const auto found = regions_.find(key);
  return found == regions_.end() || found->second.ending ? nullptr : &found->second;
}

mutable_buffer region_table::allow(const rma_range& wanted, detail::rma_refusal& why) noexcept {
  using detail::rma_refusal;
  const region_entry* const r = find(wanted.key);
  const std::uint64_t from =
      r ? wanted.offset - r->first : 0;  // an offset before the first byte wraps to a large one
  const auto has = [&] {
    const auto needs = static_cast<unsigned>(wanted.right);
    return (static_cast<unsigned>(r->permissions) & needs) == needs;
  };
  why = !r       ? rma_refusal::no_region
        : !has() ? rma_refusal::no_right
        : from > r->memory.size() || wanted.size > r->memory.size() - from
            ? rma_refusal::out_of_bounds
            : rma_refusal::none;
  return why == rma_refusal::none ? r->memory.subspan(from, wanted.size) : mutable_buffer{};
}

/// \return null: the region has ended; else the region, whose end waits for grants
region_entry* region_table::begin_end(std::uint64_t key) noexcept {
  const auto found = regions_.find(key);
  if (found == regions_.end()) return nullptr;
  region_entry& r = found->second;
  const bool begins = !std::exchange(r.ending, true);
  end_notified(r);
  if (r.granted == 0) {
    remove(key);
    return nullptr;
  }
  if (begins) r.ended_at = upkeep_.note_stop();
  return &r;
}

detail::time_point region_table::waits_since(std::uint64_t key) const noexcept {
  const auto found = regions_.find(key);
  return found == regions_.end() ? detail::time_point::max() : found->second.ended_at;
}

/// The thread that runs the context may be away for long, or poll only by calls: so this function
/// polls by itself.
void region_table::end(std::uint64_t key) noexcept {
  for (runtime::brief_wait between_polls;; between_polls.wait()) {
    {
      const runtime::engine::holder hold(engine_);
      if (!begin_end(key)) return;
    }
    engine_.poll_once();
  }
}

bool region_table::start(region_end_operation& op) noexcept {
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

void region_table::end_grant(std::uint64_t key) noexcept {
  region_entry& r = regions_.at(key);
  if (--r.granted != 0 || !r.ending) return;
  if (r.awaits) engine_.end(*r.awaits);
  remove(key);
}

bool region_table::notify(region_entry& region, const notification& what) noexcept {
  if (!region.waiting.empty()) {
    notified_operation& first = *region.waiting.front();
    region.waiting.pop_front();
    first.waiting = false;
    first.got = what;
    engine_.end(first);
    return true;
  }
  if (region.unheard.size() == most_notifications) return false;
  try {
    region.unheard.push_back(what);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void region_table::end_notified(region_entry& r) noexcept {
  while (!r.waiting.empty()) {
    notified_operation& first = *r.waiting.front();
    r.waiting.pop_front();
    first.waiting = false;
    engine_.end(first, errc::closed);
  }
}

bool region_table::start(notified_operation& op) noexcept {
  region_entry* const r = find(op.key);
  if (op.cancel_requested || !r) {
    op.status = op.cancel_requested ? errc::stopped : errc::closed;
    return true;
  }
  if (!r->unheard.empty()) {
    op.got = r->unheard.front();
    r->unheard.pop_front();
    return true;
  }
  if (closed_) {
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

void region_table::cancel(notified_operation& op) noexcept {
  const runtime::engine::holder hold(engine_);
  op.cancel_requested = true;
  if (!std::exchange(op.waiting, false)) return;
  std::erase(find(op.key)->waiting, &op);
  engine_.end(op, errc::stopped);
}

void region_table::close() noexcept {
  closed_ = true;
  for (auto& [key, r] : regions_) end_notified(r);
}

}  // namespace weft::proto
