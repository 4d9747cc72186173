// SPDX-License-Identifier: Apache-2.0
#include "runtime/flags/flag_segment.hpp"

#include <fmt/format.h>

#include <new>
#include <weft/error.hpp>

namespace weft::runtime {

namespace {

constexpr std::uint32_t awake = 0, caller_sleeps = 1, progress_listens = 3, state_bits = 3;
constexpr std::uint32_t joined_awake = 4 + awake;

std::byte* begin_of(const mapping& m) noexcept { return static_cast<std::byte*>(m.get()); }

flag_header* checked(const mapping& m, const flag_layout& l) {
  auto* const h = reinterpret_cast<flag_header*>(begin_of(m));
  if (h->magic == flag_header::expected_magic && h->version == flag_header::expected_version &&
      h->members == l.members && h->flags == l.flags)
    return h;
  throw error(errc::protocol_error,
              fmt::format("the flag segment of a peer is not one of {} members and {} flags; use "
                          "the same version of weft in all processes",
                          l.members, l.flags));
}

}  // namespace

unique_fd flag_segment::make(const flag_layout& l) {
  unique_fd memory = make_memory_file("weft-flags", l.size());
  const mapping m = map_own(memory, l.size());
  auto* const h = static_cast<flag_header*>(m.get());  // the rest is zero
  h->magic = flag_header::expected_magic;
  h->version = flag_header::expected_version;
  h->members = l.members;
  h->flags = l.flags;
  return memory;
}

flag_segment::flag_segment(const unique_fd& memory, const flag_layout& l, std::uint32_t self,
                           doorbell* own)
    : layout_(l),
      self_(self),
      mapping_(map_from_peer(memory, l.size(), true)),
      header_(checked(mapping_, l)),
      members_(reinterpret_cast<flag_member*>(begin_of(mapping_) + l.members_at())),
      flags_(reinterpret_cast<flag*>(begin_of(mapping_) + l.flags_at())),
      user_(begin_of(mapping_) + l.user_at(), l.user_bytes),
      bell_(own ? own->names() : socket_folder()),
      rung_(std::make_unique<std::atomic<std::uint32_t>[]>(l.members)) {
  if (own) {
    members_[self_].caller_bell = own->caller_wakeup().address();
    members_[self_].progress_bell = own->progress_wakeup().address();
    if (!own->fences_senders()) header_->must_fence.store(1, std::memory_order_relaxed);
  }
  members_[self_].asleep.store(joined_awake, std::memory_order_relaxed);
  header_->joined.fetch_add(1, std::memory_order_acq_rel);
}

flag_segment::~flag_segment() {
  if (announced_) withdraw();
}

bool flag_segment::look_whether_whole() noexcept {
  if (header_->joined.load(std::memory_order_acquire) < layout_.members) return false;
  whole_.store(true, std::memory_order_release);
  return true;
}

void flag_segment::refuse() noexcept {
  header_->refused.store(1, std::memory_order_release);
  ring_sleepers();
}

void flag_segment::raise_to(flag& f, std::uint64_t value) noexcept {
  std::uint64_t now = f.value.load(std::memory_order_relaxed);
  while (now < value)
    if (f.value.compare_exchange_weak(now, value, std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
      return tell_sleepers();
}

/// What a member awaits is its own word: it may be anything.
bool flag_segment::is_awaited_by(const flag_member& m) const noexcept {
  const flag_range r{m.first.load(std::memory_order_relaxed),
                     m.count.load(std::memory_order_relaxed)};
  if (r.first > layout_.flags || r.count > layout_.flags - r.first) return true;
  return have(r, m.value.load(std::memory_order_relaxed));
}

/// Of several that raise flags of one wait at once, the last one sees all of them. Another thread
/// of this member may be one that sleeps.
[[gnu::cold]] void flag_segment::ring_sleepers() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t n = 0; n != layout_.members; ++n) {
    const flag_member& m = members_[n];
    const std::uint32_t asleep = m.asleep.load(std::memory_order_acquire);
    if ((asleep & 1) == 0 || !is_awaited_by(m)) continue;
    if (rung_[n].exchange(asleep, std::memory_order_relaxed) == asleep) continue;
    bell_.ring((asleep & state_bits) == progress_listens ? m.progress_bell : m.caller_bell);
  }
}

void flag_segment::announce(flag_range r, std::uint64_t value, bool caller) noexcept {
  flag_member& m = members_[self_];
  m.first.store(r.first, std::memory_order_relaxed);
  m.count.store(r.count, std::memory_order_relaxed);
  m.value.store(value, std::memory_order_relaxed);
  const std::uint32_t now = m.asleep.load(std::memory_order_relaxed);
  m.asleep.store((now & ~state_bits) + 4 + (caller ? caller_sleeps : progress_listens),
                 std::memory_order_release);
  header_->sleepers.fetch_add(1, std::memory_order_seq_cst);
  announced_ = true;
}

void flag_segment::withdraw() noexcept {
  flag_member& m = members_[self_];
  const std::uint32_t now = m.asleep.load(std::memory_order_relaxed);
  m.asleep.store((now & ~state_bits) + 4 + awake, std::memory_order_relaxed);
  header_->sleepers.fetch_sub(1, std::memory_order_relaxed);
  announced_ = false;
}

}  // namespace weft::runtime
