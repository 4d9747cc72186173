// SPDX-License-Identifier: Apache-2.0
#include "sim/shrink.hpp"

#include <algorithm>

namespace sim {

wishes shrink(wishes w, const std::function<void(const wishes&)>& tried) {
  const auto fails = [&](const wishes& smaller) {
    if (tried) tried(smaller);
    return !run(smaller).good();
  };

  std::vector<unsigned> acts;
  for (const act& a : make_plan(w).acts) acts.push_back(a.number);
  // Large parts first, then single acts until none can be left out.
  for (std::size_t part = std::max<std::size_t>(acts.size() / 2, 1); part != 0;) {
    bool spared = false;
    for (std::size_t from = 0; from < acts.size();) {
      wishes smaller = w;
      smaller.only = acts;
      const auto begin = smaller.only->begin() + static_cast<std::ptrdiff_t>(from);
      const std::size_t n = std::min(part, acts.size() - from);
      smaller.only->erase(begin, begin + static_cast<std::ptrdiff_t>(n));
      if (smaller.only->empty() || !fails(smaller)) {
        from += part;
        continue;
      }
      w = smaller;
      acts = *w.only;
      spared = true;
    }
    if (part > 1)
      part /= 2;
    else if (!spared)
      part = 0;
  }

  for (const unsigned messages : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u, 24u}) {
    wishes smaller = w;
    smaller.messages = messages;
    if (w.messages && *w.messages <= messages) break;
    if (!fails(smaller)) continue;
    w = smaller;
    break;
  }
  if (!w.hostile) return w;
  for (const unsigned frames :
       {1u, 2u, 3u, 4u, 6u, 8u, 12u, 20u, 35u, 60u, 100u, 200u, 500u, 1000u}) {
    wishes smaller = w;
    smaller.frames = frames;
    if (!fails(smaller)) continue;
    w = smaller;
    break;
  }
  return w;
}

}  // namespace sim
