// SPDX-License-Identifier: Apache-2.0
#include "runtime/polling/poll_order.hpp"

#include <algorithm>

namespace weft::runtime {

unsigned poll_order::poll() noexcept {
  return policy_ == poll_policy::adaptive ? adaptive() : toggle();
}

unsigned poll_order::adaptive() noexcept {
  unsigned events = 0;
  for (entry& e : all_) {
    unsigned seen = 0;
    for (unsigned left = e.looks; left != 0 && e.of->worth_polling; --left) seen += e.of->poll();
    e.brought = seen != 0;
    events += seen;
  }
  if (events != 0) share_out();
  return events;
}

/// Pollables with events share the polls of a round; one poll is left to each of the others. After
/// an empty round all shares stay unchanged.
void poll_order::share_out() noexcept {
  const auto competes = [](const entry& e) { return e.brought || e.of->worth_polling; };
  const auto rivals = static_cast<unsigned>(std::count_if(all_.begin(), all_.end(), competes));
  const auto bringers = static_cast<unsigned>(
      std::count_if(all_.begin(), all_.end(), [](const entry& e) { return e.brought; }));
  const unsigned looks = (share * rivals - (rivals - bringers)) / bringers;
  for (entry& e : all_) e.looks = e.brought ? looks : 1;
}

/// Polls each once. The first one that had events comes last in the next round.
unsigned poll_order::toggle() noexcept {
  unsigned events = 0;
  std::size_t at = first_;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    pollable& s = *all_[at].of;
    at = at + 1 == all_.size() ? 0 : at + 1;
    if (!s.worth_polling) continue;
    const unsigned seen = s.poll();
    if (seen != 0 && events == 0) first_ = at;
    events += seen;
  }
  return events;
}

}  // namespace weft::runtime
