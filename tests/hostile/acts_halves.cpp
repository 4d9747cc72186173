// SPDX-License-Identifier: Apache-2.0
// Incomplete frames, while the rest of the system goes on.
#include <algorithm>
#include <chrono>

#include "acts.hpp"
#include "frames.hpp"

namespace hostile {

namespace {

using namespace weft::proto;

constexpr std::uint32_t longest_half = 60'000;

tie* way_of_bytes(guise& g) {
  for (const auto& t : g.ties)
    if (t->open && t->transport.traits().name == "tcp" && t->rest.empty()) return t.get();
  return nullptr;
}

tie* another_way(guise& g, const tie& than) {
  for (const auto& t : g.ties)
    if (t->open && t.get() != &than) return t.get();
  return nullptr;
}

/// The remembered frames of those kinds.
const heard* remembered(const guise& g, dice& d, std::initializer_list<frame_kind> kinds) {
  std::vector<const heard*> all;
  for (const heard& h : g.memory)
    if (std::find(kinds.begin(), kinds.end(), static_cast<frame_kind>(h.header.kind)) !=
        kinds.end())
      all.push_back(&h);
  return all.empty() ? nullptr : d.one_of(all);
}

/// A frame with a payload that the victim may want to store.
draft with_payload(scene& s, guise& g, dice& d, tie& by) {
  const auto size = static_cast<std::uint32_t>(d.between(3000, longest_half));
  switch (d.below(5)) {
    case 0:
      if (const heard* const h = remembered(g, d, {frame_kind::cts}))
        return extended(frame_kind::data, h->extension.b, 0, 0, size);
      [[fallthrough]];
    case 1:
      if (const heard* const h =
              remembered(g, d, {frame_kind::get, frame_kind::put, frame_kind::update}))
        return extended(frame_kind::got, h->extension.a >> 48 << 48, 0, 0, size,
                        d.percent(50) ? access_ends : 0u);
      [[fallthrough]];
    case 2:
      return extended(frame_kind::put, d.between(1, 9) << 48 | d.below(100'000), 0,
                      s.on().open_region.key, size, access_ends);
    case 3:
      return plain(frame_kind::eager, any_tag_of(d), size, eager_ends);
    default: {
      tie* const other = another_way(g, by);
      send_by(s, g, other && d.percent(60) ? *other : by, d,
              extended(frame_kind::eager, longest_half, 0, any_tag_of(d), 0), 0);
      return plain(frame_kind::more, 0, size);
    }
  }
}

}  // namespace

void send_half(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  tie* const t = g ? way_of_bytes(*g) : nullptr;
  if (!t) return;
  g->look();
  draft f = with_payload(s, *g, d, *t);
  spoil(f, d, 3);
  g->send_part(*t, f.h, f.x, d.below(std::uint64_t{f.h.size} + 40));
}

/// The second link ends what the first one has begun, and begins something else; then the first one
/// goes on.
void send_half_of_two(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  tie* const t = g ? way_of_bytes(*g) : nullptr;
  tie* const other = t ? another_way(*g, *t) : nullptr;
  if (!other) return send_half(s, d);
  const auto size = static_cast<std::uint32_t>(d.between(6000, 20'000));
  send_by(s, *g, *other, d, extended(frame_kind::eager, size, 0, d.below(12), 0), 2);
  s.look();
  const draft f = plain(frame_kind::more, 0, static_cast<std::uint32_t>(d.between(5000, size)));
  g->send_part(*t, f.h, f.x, d.between(100, 3000));
  s.wait(std::chrono::microseconds(d.below(4000)));  // an idle socket is not read at once
  send_by(s, *g, *other, d, plain(frame_kind::more, 0, size, eager_ends), 2);
  if (d.percent(80))
    send_by(
        s, *g, *other, d,
        extended(frame_kind::eager, size, 0, d.percent(70) ? tag_left_lying : any_tag_of(d), 50),
        2);
  s.look();
  if (d.percent(80)) g->send_rest(*t);
}

void send_rest(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  for (const auto& t : g->ties) g->send_rest(*t);
}

}  // namespace hostile
