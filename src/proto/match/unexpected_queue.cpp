// SPDX-License-Identifier: Apache-2.0
#include "proto/match/unexpected_queue.hpp"

#include <new>

#include "proto/peer/peer.hpp"

namespace weft::proto {

namespace {
// How many messages a receive from any source checks before it searches peer by peer: mostly one of
// them matches.
constexpr int first_looks = 64;
}  // namespace

unexpected_queue::unexpected_queue(std::uint64_t hashed, std::uint64_t secret)
    : hashed_(hashed), secret_(secret) {
  chunks_.push_back(std::make_unique<chunk>());
}

std::uint64_t unexpected_queue::hash(const peer* from, std::uint64_t tag) const noexcept {
  std::uint64_t h = (reinterpret_cast<std::uintptr_t>(from) ^ secret_) * 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 32 ^ (tag & hashed_)) * (secret_ | 1);
  h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 32;
}

unexpected_queue::bucket_list& unexpected_queue::home(const peer* from,
                                                      std::uint64_t tag) const noexcept {
  const std::uint64_t h = hash(from, tag);
  const std::size_t few = per_chunk << doublings_;
  const std::size_t n = h & (few - 1);
  return bucket(n < split_ ? h & (2 * few - 1) : n);
}

/// The oldest message of one peer with those hashed bits in its tag.
inbound_message* unexpected_queue::ring(const peer* from, std::uint64_t tag) const noexcept {
  inbound_message* m = home(from, tag).first;
  while (m && (m->from != from || ((m->tag ^ tag) & hashed_) != 0)) m = m->bucket_after;
  return m;
}

/// Adds one bucket; without memory for it, none.
void unexpected_queue::grow() noexcept {
  const std::size_t one = size(), few = per_chunk << doublings_;
  try {
    if (one / per_chunk == chunks_.size()) chunks_.push_back(std::make_unique<chunk>());
  } catch (const std::bad_alloc&) {
    return;
  }
  bucket_list &old = bucket(split_), &fresh = bucket(one);
  for (inbound_message *m = old.first, *next = nullptr; m; m = next) {
    next = m->bucket_after;
    if ((hash(m->from, m->tag) & (2 * few - 1)) != one) continue;
    old.remove(*m);
    fresh.add(*m);
  }
  if (++split_ != few) return;
  ++doublings_;
  split_ = 0;
}

void unexpected_queue::shrink() noexcept {
  if (split_ == 0) split_ = per_chunk << --doublings_;
  --split_;
  bucket_list& last = bucket(size());
  while (inbound_message* const m = last.first) {
    last.remove(*m);
    bucket(split_).add(*m);
  }
  if (size() % per_chunk == 0) chunks_.pop_back();
}

/// The oldest message comes after the last one. A message that comes back looks from the oldest one
/// on: messages with its tag that came before it came back as well.
void unexpected_queue::enter_ring(inbound_message& m) noexcept {
  inbound_message* const oldest = ring(m.from, m.tag);
  m.oldest = !oldest || m.arrived_as < oldest->arrived_as;
  inbound_message* after = oldest;
  if (oldest && oldest->ring_before->arrived_as > m.arrived_as)
    while (after->arrived_as < m.arrived_as) after = after->ring_after;
  m.ring_after = after ? after : &m;
  m.ring_before = after ? std::exchange(after->ring_before, &m) : &m;
  m.ring_before->ring_after = &m;
  if (!m.oldest) return;
  if (oldest) {
    oldest->oldest = false;
    home(m.from, m.tag).remove(*oldest);
  }
  home(m.from, m.tag).add(m);
  if (!oldest && ++rings_ > size()) grow();
}

void unexpected_queue::add_again(inbound_message& m) noexcept {
  ++count_;
  enter_ring(m);
  unexpected_of_peer& of = m.from->unexpected;
  of.whose = m.from;
  if (of.none()) peers_.add(of);
  of.of(m.tag).add_in_order(m);
  if (m.tag < first_reserved_tag) all_.add_in_order(m);
}

void unexpected_queue::remove(inbound_message& m) noexcept {
  --count_;
  inbound_message* const next = m.ring_after;
  if (m.oldest) {
    bucket_list& there = home(m.from, m.tag);
    there.remove(m);
    if (next != &m) {
      next->oldest = true;
      there.add(*next);
    } else {
      --rings_;
      for (int i = 0; i != 4 && size() > per_chunk && rings_ < size() / 4; ++i) shrink();
    }
  }
  m.ring_before->ring_after = next;
  next->ring_before = m.ring_before;
  unexpected_of_peer& of = m.from->unexpected;
  unexpected_of_peer::line& line = of.of(m.tag);
  if (line.next_swept == &m) line.next_swept = m.of_peer_after;
  line.remove(m);
  if (of.none()) peers_.remove(of);
  if (m.tag < first_reserved_tag) all_.remove(m);
}

/// Messages of a ring can have different tags only in bits that are not hashed.
inbound_message* unexpected_queue::find_exact(const peer* from, tag_mask tag) const noexcept {
  inbound_message* const oldest = ring(from, tag.value);
  inbound_message* m = oldest;
  while (m && !tag.matches({m->tag})) m = m->ring_after == oldest ? nullptr : m->ring_after;
  return m;
}

inbound_message* unexpected_queue::find_from_any(tag_mask tag) const noexcept {
  inbound_message* m = all_.first;
  const bool by_peers = is_hashed(tag);
  for (int looks = 0; m && !tag.matches({m->tag}); m = m->later)
    if (by_peers && ++looks == first_looks) break;
  if (!m || tag.matches({m->tag})) return m;
  inbound_message* first = nullptr;
  for (const unexpected_of_peer* of = peers_.first; of; of = of->after) {
    inbound_message* const its = find_exact(of->whose, tag);
    if (its && its->tag < first_reserved_tag && (!first || its->arrived_as < first->arrived_as))
      first = its;
  }
  return first;
}

inbound_message* unexpected_queue::find(const peer* from, tag_mask tag) const noexcept {
  if (!from) return find_from_any(tag);
  if (is_hashed(tag)) return find_exact(from, tag);
  inbound_message* m = from->unexpected.ordinary.first;
  while (m && !tag.matches({m->tag})) m = m->of_peer_after;
  return m;
}

inbound_message* unexpected_queue::any(const peer* from) const noexcept {
  if (!from && all_.first) return all_.first;
  const unexpected_of_peer* const of = from ? &from->unexpected : peers_.first;
  if (!of) return nullptr;
  return of->ordinary.first ? of->ordinary.first : of->own.first;
}

void unexpected_queue::begin_sweep(unexpected_of_peer& of) noexcept {
  for (unexpected_of_peer::line* l : {&of.ordinary, &of.own}) l->next_swept = l->first;
}

inbound_message* unexpected_queue::sweep(unexpected_of_peer& of) noexcept {
  unexpected_of_peer::line& l = of.ordinary.next_swept ? of.ordinary : of.own;
  inbound_message* const m = l.next_swept;
  if (m) l.next_swept = m->of_peer_after;
  return m;
}

}  // namespace weft::proto
