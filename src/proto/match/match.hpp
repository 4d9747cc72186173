// SPDX-License-Identifier: Apache-2.0
// Matching: receives that wait for messages, and messages that wait for receives.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "proto/match/unexpected_queue.hpp"
#include "runtime/trace/probes.hpp"

namespace weft::proto {

/// Both queues of a context. Receives for one source and one tag are hashed by (source, hashed bits
/// of the tag); receives with a wildcard are few and kept in order of posting. Messages are in
/// `unexpected_queue`. A message goes to the receive posted first among those that match; a receive
/// takes the message that arrived first. Messages with a reserved tag (first_reserved_tag) are for
/// receives that name source and tag. Progress lock held only; matching allocates nothing.
class match_table {
 public:
  /// \param hashed bits of a tag that the hash uses: a receive that ignores none of them, and names
  ///   its source, is found by the hash. The bits that mark reserved tags are always used.
  /// \param secret a number that peers do not know, so that no peer can choose the bucket of
  ///   another peer's tag
  /// \throws std::bad_alloc
  explicit match_table(std::uint64_t hashed = ~std::uint64_t{0}, std::uint64_t secret = 0)
      : hashed_(hashed | first_reserved_tag),
        multiplier_((secret ^ 0x9e3779b97f4a7c15u) | 1),
        unexpected_(hashed_, secret) {}

  /// Posts a receive or a probe. The compiler takes the static probe for more than its one `nop`,
  /// and would make a call of this.
  [[gnu::always_inline]] void post(detail::match_operation& m) noexcept {
    m.queued = true;
    bucket& home = home_of(m);
    home.newest = m.posted_at = ++posted_;
    m.before = home.last;
    m.after = nullptr;
    (home.last ? home.last->after : home.first) = &m;
    home.last = &m;
    runtime::probe::post(runtime::probe::way::receive, m.from_id, m.tag.value, 0, &m);
  }

  /// For a receive that has met an unexpected message, in place of `post`.
  void note_met(detail::match_operation& m) noexcept {
    home_of(m).newest = m.posted_at = ++posted_;
  }
  /// The same for a claim, of which nothing is kept.
  void note_claim(const peer* from, tag_mask tag) noexcept {
    (is_hashed(from, tag) ? exact_[hash(from, tag.value)] : wild_).newest = ++posted_;
  }
  /// Whether no receive has come after that one which could have taken a later message than its
  /// own. False also if one has come that looks like it.
  bool is_newest(const detail::match_operation& m, const peer* from,
                 std::uint64_t tag) const noexcept {
    return std::max(exact_[hash(from, tag)].newest, wild_.newest) <= m.posted_at;
  }

  /// Takes a match operation out again. Only while m.queued.
  void withdraw(detail::match_operation& m) noexcept { withdraw(home_of(m), m); }

  /// Takes out the first posted match operation that accepts the message; null: none.
  detail::match_operation* take_match(const peer* from, std::uint64_t tag) noexcept {
    list<detail::match_operation>& home = exact_[hash(from, tag)];
    detail::match_operation* found = home.first;
    while (found && (found->from != from || !found->tag.matches({tag}))) found = found->after;
    if (wild_.first) [[unlikely]]
      return take_wild(from, tag, found);
    if (found) withdraw(home, *found);
    return found;
  }

  /// As take_match, but only if no wildcard waits and `suits(found)`; null: call take_match. A
  /// receive that takes more messages stays in.
  template <class Suits>
  detail::match_operation* take_match_if(const peer* from, std::uint64_t tag,
                                         Suits suits) noexcept {
    list<detail::match_operation>& home = exact_[hash(from, tag)];
    detail::match_operation* found = home.first;
    while (found && (found->from != from || !found->tag.matches({tag}))) found = found->after;
    if (!found || wild_.first || !suits(*found)) [[unlikely]]
      return nullptr;
    if (!found->stays()) [[likely]]
      withdraw(home, *found);
    return found;
  }

  /// Adds an unexpected message.
  void add(inbound_message& m) noexcept { unexpected_.add(m); }
  /// Notes when a message came that has met its receive at once; `add_again` adds it if it comes
  /// back.
  void note_arrival(inbound_message& m) noexcept { unexpected_.stamp(m); }
  void add_again(inbound_message& m) noexcept { unexpected_.add_again(m); }
  void remove(inbound_message& m) noexcept { unexpected_.remove(m); }

  /// Whether no unexpected message waits.
  bool none_arrived() const noexcept { return unexpected_.none(); }

  /// The first unexpected message for a receive or probe; null: none. It stays in.
  inbound_message* find(const peer* from, tag_mask tag) const noexcept {
    return none_arrived() ? nullptr : unexpected_.find(from, tag);
  }

  /// Takes out every match operation that only `from` can serve, or (null) all of them: a list
  /// linked by `after`, in order of posting.
  detail::match_operation* take_posted(const peer* from) noexcept;

  /// The same for those with an exact reserved tag that `is_meant(tag)` accepts.
  template <class Meant>
  detail::match_operation* take_posted_of(Meant is_meant) noexcept {
    return take_posted_if(
        [&](const detail::match_operation& m) { return m.tag.exact() && is_meant(m.tag.value); });
  }

  /// Calls `act` for each posted match operation; the order is that of the tables.
  template <class Action>
  void for_each_posted(Action act) const {
    for (const detail::match_operation* m = wild_.first; m; m = m->after) act(*m);
    for (const bucket& one : exact_)
      for (const detail::match_operation* m = one.first; m; m = m->after) act(*m);
  }
  /// How many were posted so far: their `posted_at` is at most that.
  std::uint64_t posted() const noexcept { return posted_; }

  /// The oldest unexpected message from a peer, or (null) from any source.
  inbound_message* any_unexpected(const peer* from) const noexcept { return unexpected_.any(from); }

 private:
  template <class Node>
  struct list {
    Node* first = nullptr;
    Node* last = nullptr;
  };
  struct bucket : list<detail::match_operation> {
    std::uint64_t newest = 0;  // posted_at of the last receive that came here
  };
  static constexpr std::size_t buckets = 1024;

  static detail::match_operation* in_order(detail::match_operation*& rest, std::size_t n) noexcept;
  template <class Wanted>
  detail::match_operation* take_posted_if(Wanted wanted) noexcept {
    detail::match_operation* taken = nullptr;
    std::size_t count = 0;
    const auto take_from = [&](list<detail::match_operation>& home) {
      for (detail::match_operation *m = home.first, *next = nullptr; m; m = next) {
        next = m->after;
        if (!wanted(*m)) continue;
        withdraw(home, *m);
        m->after = taken;
        taken = m;
        ++count;
      }
    };
    take_from(wild_);
    for (bucket& one : exact_) take_from(one);
    return count == 0 ? nullptr : in_order(taken, count);
  }

  std::size_t hash(const peer* from, std::uint64_t tag) const noexcept {
    const std::uint64_t mixed =
        (reinterpret_cast<std::uintptr_t>(from) >> 6 ^ (tag & hashed_)) * multiplier_;
    return mixed >> 54;  // the top bits, as many as index the buckets
  }
  static_assert(buckets == std::size_t{1} << (64 - 54));
  bool is_hashed(const peer* from, tag_mask tag) const noexcept {
    return from && (tag.mask & hashed_) == hashed_;
  }

  bucket& home_of(const detail::match_operation& m) noexcept {
    if (is_hashed(m.from, m.tag)) [[likely]]
      return exact_[hash(m.from, m.tag.value)];
    return wild_;
  }
  static void withdraw(list<detail::match_operation>& home, detail::match_operation& m) noexcept {
    m.queued = false;
    (m.before ? m.before->after : home.first) = m.after;
    (m.after ? m.after->before : home.last) = m.before;
  }
  detail::match_operation* take_wild(const peer* from, std::uint64_t tag,
                                     detail::match_operation* found) noexcept;

  const std::uint64_t hashed_;
  const std::uint64_t multiplier_;
  std::array<bucket, buckets> exact_{};
  bucket wild_{};
  std::uint64_t posted_ = 0;
  unexpected_queue unexpected_;
};

}  // namespace weft::proto
