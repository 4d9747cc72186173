// SPDX-License-Identifier: Apache-2.0
#include "proto/match.hpp"

namespace weft::proto {

using detail::matcher;

namespace {

/// Intrusive doubly linked lists, with the links named by the caller: an unexpected message is in
/// two of them.
template <class Node, Node* Node::*Previous, Node* Node::*Next, class List>
void link_last(List& l, Node& n) noexcept {
  n.*Previous = l.last;
  n.*Next = nullptr;
  (l.last ? l.last->*Next : l.first) = &n;
  l.last = &n;
}

template <class Node, Node* Node::*Previous, Node* Node::*Next, class List>
void unlink(List& l, Node& n) noexcept {
  (n.*Previous ? n.*Previous->*Next : l.first) = n.*Next;
  (n.*Next ? n.*Next->*Previous : l.last) = n.*Previous;
}

matcher* merge(matcher* a, matcher* b) noexcept {
  matcher* first = nullptr;
  matcher** last = &first;
  while (a && b) {
    matcher*& earlier = a->posted_at < b->posted_at ? a : b;
    *last = earlier;
    last = &earlier->after;
    earlier = earlier->after;
  }
  *last = a ? a : b;
  return first;
}

/// Takes `n` (not 0) off the front of `rest` and puts them in order of posting.
matcher* in_order(matcher*& rest, std::size_t n) noexcept {
  if (n == 1) {
    matcher* const only = rest;
    rest = only->after;
    only->after = nullptr;
    return only;
  }
  matcher* const left = in_order(rest, n / 2);
  return merge(left, in_order(rest, n - n / 2));
}

}  // namespace

/// The same with wildcards posted: whichever was posted first.
matcher* match_table::take_wild(const peer* from, std::uint64_t tag, matcher* found) noexcept {
  matcher* w = tag < first_reserved_tag ? wild_.first : nullptr;
  for (; w && (!found || w->posted_at < found->posted_at); w = w->after)
    if ((!w->from || w->from == from) && w->tag.matches({tag})) found = w;
  if (found) withdraw(*found);
  return found;
}

void match_table::add(incoming& m) noexcept {
  link_last<incoming, &incoming::before, &incoming::after>(unexpected_[hash(m.from, m.tag)], m);
  link_last<incoming, &incoming::earlier, &incoming::later>(by_arrival_, m);
}

void match_table::remove(incoming& m) noexcept {
  unlink<incoming, &incoming::before, &incoming::after>(unexpected_[hash(m.from, m.tag)], m);
  unlink<incoming, &incoming::earlier, &incoming::later>(by_arrival_, m);
}

void match_table::claim(incoming& m) noexcept {
  remove(m);
  m.claimed = true;
  link_last<incoming, &incoming::earlier, &incoming::later>(claimed_, m);
}

void match_table::unclaim(incoming& m) noexcept {
  m.claimed = false;
  unlink<incoming, &incoming::earlier, &incoming::later>(claimed_, m);
}

incoming* match_table::find_arrived(const peer* from, tag_mask tag) const noexcept {
  if (is_hashed(from, tag)) {
    incoming* m = unexpected_[hash(from, tag.value)].first;
    while (m && (m->from != from || !tag.matches({m->tag}))) m = m->after;
    return m;
  }
  const auto suits = [&](const incoming& m) {
    return (!from || m.from == from) && tag.matches({m.tag}) && m.tag < first_reserved_tag;
  };
  incoming* m = by_arrival_.first;
  while (m && !suits(*m)) m = m->later;
  return m;
}

matcher* match_table::take_posted(const peer* from) noexcept {
  matcher* taken = nullptr;
  std::size_t count = 0;
  const auto take_from = [&](list<matcher>& home) {
    for (matcher *m = home.first, *next = nullptr; m; m = next) {
      next = m->after;
      if (from && m->from != from) continue;
      withdraw(home, *m);
      m->after = taken;
      taken = m;
      ++count;
    }
  };
  take_from(wild_);
  for (list<matcher>& bucket : exact_) take_from(bucket);
  return count == 0 ? nullptr : in_order(taken, count);
}

incoming* match_table::any_unexpected(const peer* from) const noexcept {
  incoming* m = by_arrival_.first;
  while (m && from && m->from != from) m = m->later;
  return m;
}

}  // namespace weft::proto
