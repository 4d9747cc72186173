// SPDX-License-Identifier: Apache-2.0
#include "transports/registration_cache.hpp"

#include <new>

namespace weft::transports {

registration_cache::~registration_cache() {
  for (regions* all : {&idle_, &used_})
    while (!all->empty()) end(*all, all->begin());
}

registration_cache::use registration_cache::get(std::span<std::byte> memory,
                                                memory_access how) noexcept {
  const bool keeps = settings_.caching != registration_caching::off;
  regions::iterator r;
  if (keeps && (find(memory, memory_access::write, r) ||
                (how == memory_access::read && find(memory, how, r))))
    return begin_use(r);

  if (keeps) {
    // Registrations that lie within the new one are not needed beside it.
    drop_within(of(how), memory);
    if (how == memory_access::write) drop_within(of(memory_access::read), memory);
  }
  if (!make_room(memory.size())) return {};
  void* registration = memory_registrar_.enlist(memory, how);
  // The kernel's limit of locked memory may be lower than the cache's.
  while (!registration && evict()) registration = memory_registrar_.enlist(memory, how);
  if (!registration) return {};
  try {
    used_.push_back({memory, how, registration, generation_, 1, keeps});
    if (keeps) of(how).emplace(memory.data(), std::prev(used_.end()));
  } catch (const std::bad_alloc&) {
    if (!used_.empty() && used_.back().registration == registration) used_.pop_back();
    memory_registrar_.dismiss(registration);
    return {};
  }
  ++counts_.registrations;
  counts_.bytes_now += memory.size();
  ++counts_.entries_now;
  return use(this, std::prev(used_.end()));
}

/// Of all regions that begin at `memory` or before, the last one reaches furthest.
bool registration_cache::find(std::span<std::byte> memory, memory_access how,
                              regions::iterator& found) noexcept {
  index& in = of(how);
  const std::byte* const last = memory.data() + memory.size();
  for (;;) {
    auto it = in.upper_bound(memory.data());
    if (it == in.begin()) return false;
    --it;
    found = it->second;
    if (found->end() < last) return false;
    if (found->generation == generation_) break;
    drop(in, it);
  }
  ++(found->memory.size() == memory.size() ? counts_.hits : counts_.sub_range_hits);
  return true;
}

registration_cache::use registration_cache::begin_use(regions::iterator r) noexcept {
  if (r->users++ == 0) used_.splice(used_.end(), idle_, r);
  return use(this, r);
}

void registration_cache::release(regions::iterator r) noexcept {
  if (--r->users != 0) return;
  if (!r->indexed) return end(used_, r);
  idle_.splice(idle_.end(), used_, r);
}

/// Takes a region out of the index; its present users keep it.
void registration_cache::drop(index& from, index::iterator it) noexcept {
  const regions::iterator r = it->second;
  from.erase(it);
  r->indexed = false;
  if (r->users == 0) end(idle_, r);
}

void registration_cache::drop_within(index& from, std::span<const std::byte> memory) noexcept {
  const std::byte* const last = memory.data() + memory.size();
  for (auto it = from.lower_bound(memory.data()); it != from.end() && it->second->end() <= last;)
    drop(from, it++);
}

void registration_cache::end(regions& in, regions::iterator r) noexcept {
  memory_registrar_.dismiss(r->registration);
  counts_.bytes_now -= r->memory.size();
  --counts_.entries_now;
  in.erase(r);
}

/// \return false: everything is in use
bool registration_cache::evict() noexcept {
  if (idle_.empty()) return false;
  index& in = of(idle_.front().how);
  drop(in, in.find(idle_.front().begin()));
  ++counts_.evictions;
  return true;
}

bool registration_cache::make_room(std::size_t bytes) noexcept {
  if (settings_.caching != registration_caching::bounded) return true;
  if (bytes > settings_.most_bytes || settings_.most_entries == 0) return false;
  while (counts_.bytes_now > settings_.most_bytes - bytes ||
         counts_.entries_now >= settings_.most_entries)
    if (!evict()) return false;
  return true;
}

void registration_cache::forget(std::span<const std::byte> memory) noexcept {
  const std::byte* const last = memory.data() + memory.size();
  for (index& in : indices_) {
    auto it = in.lower_bound(memory.data());
    while (it != in.begin() && std::prev(it)->second->end() > memory.data()) --it;
    while (it != in.end() && it->second->begin() < last) drop(in, it++);
  }
}

void registration_cache::add_to(metrics& m) const noexcept {
  m.registration_hits += counts_.hits;
  m.registration_sub_range_hits += counts_.sub_range_hits;
  m.memory_registrations += counts_.registrations;
  m.registration_evictions += counts_.evictions;
  m.registered_bytes += counts_.bytes_now;
}

}  // namespace weft::transports
