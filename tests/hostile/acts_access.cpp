// SPDX-License-Identifier: Apache-2.0
// Memory, streams and barriers.
#include <cstring>

#include "acts.hpp"
#include "frames.hpp"
#include "proto/frames/stream_wire.hpp"

namespace hostile {

namespace {

weft::remote_region some_region(scene& s, const guise& g, dice& d) {
  weft::remote_region r = s.on().open_region;
  if (!g.keys.empty() && d.percent(30)) r = d.one_of(g.keys);
  if (d.percent(10)) r.key ^= std::uint64_t{1} << d.below(64);
  if (d.percent(3)) r.key = any_word(d);
  return r;
}

}  // namespace

void reach_for_memory(scene& s, dice& d) {
  using namespace weft::proto;
  guise* const g = s.any_guise(d);
  if (!g) return;
  for (std::uint64_t left = d.percent(90) ? d.between(1, 5) : d.between(50, 1100); left != 0;
       --left) {
    const weft::remote_region r = some_region(s, *g, d);
    const std::uint64_t id = d.percent(80) ? left + 10 : any_number(*g, d);
    const std::uint64_t offset = d.percent(80) ? d.below(1000) * 8 : any_word(d) >> 16;
    const std::uint64_t a = id << 48 | (offset & size_mask);
    const std::uint32_t size = any_size(d, 16'000);
    draft f;
    switch (d.below(6)) {
      case 0:  // all of it
        f = extended(frame_kind::put, a, 0, r.key, size, access_ends);
        break;
      case 1:  // the beginning
        f = extended(frame_kind::put, a, d.below(50'000), r.key, size,
                     d.percent(30) ? access_continues : 0u);
        break;
      case 2:  // whether the link may do it
        f = extended(frame_kind::put, a, d.below(200'000), r.key, 0, access_asks);
        break;
      case 3:
        f = extended(frame_kind::get, a, d.percent(80) ? d.below(200'000) : any_word(d), r.key, 0,
                     d.percent(50) ? access_asks : 0u);
        break;
      case 4:
        f = extended(frame_kind::update, a, any_word(d), r.key, 0,
                     d.percent(50) ? access_swaps : 0u);
        break;
      default:  // and notifies the owner
        f = extended(frame_kind::put, a, 0, r.key, d.percent(50) ? 0 : size,
                     access_ends | access_notifies);
    }
    if (d.percent(30)) {
      f.h.flags |= flag_immediate;
      f.x.immediate = any_word(d);
    }
    if (!send(s, *g, d, f)) break;
    if (d.percent(20)) g->look();
  }
}

/// A reader that allows any amount, and a writer that ignores what is allowed.
void pipe_bytes(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  for (std::uint64_t left = d.between(1, 6); left != 0; --left) {
    std::uint64_t tag =
        std::uint64_t{0xfe} << 56 | (d.percent(90) ? d.below(4) : d.below(1u << 31));
    if (d.percent(40)) tag |= std::uint64_t{1} << 40;  // what a reader sends: 16 bytes, of junk
    if (d.percent(5)) tag |= std::uint64_t{1} << 32;
    if (d.percent(60)) {
      const bool told = (tag >> 40 & 1) != 0;
      send(s, *g, d,
           plain(frame_kind::eager, tag, told ? 16 : any_size(d, 16'000), weft::proto::eager_ends));
    } else {
      draft f = extended(frame_kind::eager, 0, 0, tag, 0, weft::proto::eager_ends | flag_immediate);
      f.x.immediate = d.percent(50) ? any_word(d) : d.below(100'000);
      send(s, *g, d, f);
    }
  }
}

void signal_barriers(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  const std::uint64_t many = d.percent(80) ? d.between(1, 40) : d.between(3000, 5000);
  for (std::uint64_t i = 0; i != many; ++i)
    if (!send(s, *g, d,
              extended(frame_kind::signal, weft::proto::first_signal_tag + d.below(8), d.below(6)),
              1))
      break;
}

}  // namespace hostile
