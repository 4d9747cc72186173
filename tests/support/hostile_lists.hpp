// SPDX-License-Identifier: Apache-2.0
// What the files of hostile_frames share: bounded lists, and the simplest frames.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "support/hostile_frames.hpp"

namespace weft::tests::hostile {

using proto::frame_extension;
using proto::frame_header;
using proto::frame_kind;
using transports::has_extension;
using transports::has_immediate;

inline constexpr std::size_t most_kept = 256;
inline constexpr auto last_kind = static_cast<std::uint8_t>(frame_kind::call_more);

template <class Thing>
void keep(std::deque<Thing>& where, const Thing& what) {
  if (where.size() == most_kept) where.pop_front();
  where.push_back(what);
}

template <class Thing>
Thing& any_of(std::deque<Thing>& where, dice& d) {
  const std::size_t newest = d.percent(70) ? 4 : most_kept;
  return where[where.size() - 1 - d.below(std::min(where.size(), newest))];
}

/// Takes most requests out, so that they are answered once.
template <class Thing>
Thing take(std::deque<Thing>& where, dice& d) {
  const std::size_t n = where.size() - 1 - d.below(std::min<std::size_t>(where.size(), 4));
  const Thing taken = where[n];
  if (d.percent(95)) where.erase(where.begin() + static_cast<std::ptrdiff_t>(n));
  return taken;
}

inline hostile_frame plain(frame_kind kind, std::uint64_t a, std::uint64_t b = 0,
                           std::uint64_t third = 0) {
  const std::uint8_t flags = third == 0 ? has_extension : has_extension | has_immediate;
  return {proto::header_of(kind, 0, 0, flags), {a, b, third}};
}

inline bool is_access(std::uint8_t kind) noexcept {
  return kind >= static_cast<std::uint8_t>(frame_kind::put) &&
         kind <= static_cast<std::uint8_t>(frame_kind::update);
}

}  // namespace weft::tests::hostile
