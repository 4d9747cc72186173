// SPDX-License-Identifier: Apache-2.0
#include "proto/match/match.hpp"

namespace weft::proto {

using detail::match_operation;

namespace {

match_operation* merge(match_operation* a, match_operation* b) noexcept {
  match_operation* first = nullptr;
  match_operation** last = &first;
  while (a && b) {
    match_operation*& earlier = a->posted_at < b->posted_at ? a : b;
    *last = earlier;
    last = &earlier->after;
    earlier = earlier->after;
  }
  *last = a ? a : b;
  return first;
}

}  // namespace

/// take_match where receives with wildcards wait: takes the one that was posted first.
match_operation* match_table::take_wild(const peer* from, std::uint64_t tag,
                                        match_operation* found) noexcept {
  match_operation* w = tag < first_reserved_tag ? wild_.first : nullptr;
  for (; w && (!found || w->posted_at < found->posted_at); w = w->after)
    if ((!w->from || w->from == from) && w->tag.matches({tag})) found = w;
  if (found) withdraw(*found);
  return found;
}

/// Takes `n` operations (not 0) off the front of `rest` and sorts them by the order of posting.
match_operation* match_table::in_order(match_operation*& rest, std::size_t n) noexcept {
  if (n == 1) {
    match_operation* const only = rest;
    rest = only->after;
    only->after = nullptr;
    return only;
  }
  match_operation* const left = in_order(rest, n / 2);
  return merge(left, in_order(rest, n - n / 2));
}

match_operation* match_table::take_posted(const peer* from) noexcept {
  return take_posted_if([from](const match_operation& m) { return !from || m.from == from; });
}

}  // namespace weft::proto
