// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/completions.hpp"

#include <algorithm>

#include "transports/verbs/pair.hpp"
#include "transports/verbs/work.hpp"

namespace weft::transports::verbs {

namespace {

constexpr std::size_t at_once = 16;

}  // namespace

void completions::add(pair& p) {
  // So that all completions can be fetched where nothing may throw.
  waiting_.reserve(sizes{}.receives + (by_queue_pair_.size() + 1) * sizes{}.sends);
  by_queue_pair_[p.queue_pair_number()] = &p;
}

/// Drops its fetched send completions, since its sends have ended with it: so there is room for
/// those of a later pair.
void completions::retire(pair& p) noexcept {
  const auto numbered = by_queue_pair_.find(p.queue_pair_number());
  if (numbered == by_queue_pair_.end() || numbered->second != &p) return;
  by_queue_pair_.erase(numbered);
  const auto its_send = [&](const completion& c) {
    return c.of == &p && !work_id::of(c.what.wr_id).is_receive();
  };
  waiting_.erase(std::remove_if(first(), waiting_.end(), its_send), waiting_.end());
}

void completions::forget(pair& p) noexcept {
  retire(p);
  for (completion& c : waiting_)
    if (c.of == &p) c.of = nullptr;
}

pair* completions::owner_of(const ibv_wc& c) const noexcept {
  const auto it = by_queue_pair_.find(c.qp_num);
  if (it == by_queue_pair_.end()) return nullptr;
  const work_id id = work_id::of(c.wr_id);
  return id.is_receive() || id.pair() == it->second->number() ? it->second : nullptr;
}

bool completions::fetch() noexcept {
  waiting_.erase(waiting_.begin(), first());
  next_ = 0;
  for (;;) {
    const std::size_t room = std::min(waiting_.capacity() - waiting_.size(), at_once);
    ibv_wc some[at_once];
    const std::size_t n = room == 0 ? 0 : device_.poll({some, room});
    for (std::size_t i = 0; i != n; ++i) waiting_.push_back({some[i], owner_of(some[i])});
    if (n != at_once) return any();
  }
}

std::optional<completion> completions::next_of(const pair& p, bool sends_only) noexcept {
  const auto found = std::find_if(first(), waiting_.end(), [&](const completion& c) {
    return c.of == &p && !(sends_only && work_id::of(c.what.wr_id).is_receive());
  });
  if (found == waiting_.end()) return {};
  const completion c = *found;
  waiting_.erase(found);
  return c;
}

}  // namespace weft::transports::verbs
