// SPDX-License-Identifier: Apache-2.0
// Messages, by frames in any order.
#include <algorithm>

#include "acts.hpp"
#include "frames.hpp"
#include "proto/rails/multi_rail_link.hpp"

namespace hostile {

using weft::proto::eager_ends;
using weft::proto::starved;

/// Small messages, synchronous or not, whole or in pieces.
void send_message(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  const std::uint64_t tag = any_tag_of(d);
  for (std::uint64_t left = d.between(1, 6); left != 0; --left) {
    const std::uint32_t size = any_size(d, 20'000);
    if (d.percent(50)) {
      send(s, *g, d, plain(frame_kind::eager, tag, size, eager_ends));
      continue;
    }
    const bool whole = d.percent(50);
    const std::uint32_t first = whole ? size : static_cast<std::uint32_t>(d.below(size + 1));
    draft f = extended(frame_kind::eager, size, d.percent(50) ? any_number(*g, d) : 0, tag, first,
                       first == size ? eager_ends : 0);
    if (d.percent(60)) {
      f.h.flags |= flag_immediate;
      f.x.immediate = any_word(d);
    }
    send(s, *g, d, f);
    for (std::uint32_t done = first; done != size;) {
      const auto n = static_cast<std::uint32_t>(d.between(1, size - done));
      done += n;
      send(s, *g, d, plain(frame_kind::more, tag, n, done == size ? eager_ends : 0));
    }
  }
}

/// The beginning of a message whose rest waits for an answer: `answer_well` continues it.
void send_long_message(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  const std::uint64_t number = any_number(*g, d) & 0xffff;
  const std::uint64_t size = d.percent(80) ? d.below(600'000) : any_word(d) >> 16;
  const auto first = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, any_size(d, 16'000)));
  // None; an address, right or wrong; or a region.
  const std::uint64_t where = d.percent(50) ? 0 : d.percent(50) ? any_word(d) : d.throw_one() >> 16;
  const bool ends = d.percent(60);
  draft f = extended(frame_kind::rts, number << 48 | size, where, any_tag_of(d), first,
                     (ends ? eager_ends : 0u) | (d.percent(20) ? starved : 0u));
  if (d.percent(40)) {
    f.h.flags |= flag_immediate;
    f.x.immediate = any_word(d);
  }
  send(s, *g, d, f);
  if (!ends && d.percent(80))
    send(s, *g, d, plain(frame_kind::more, 0, any_size(d, 16'000), eager_ends));
}

/// A message that stays incomplete while another one begins, perhaps by another transport.
void leave_half(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  for (std::uint64_t left = d.between(1, 4); left != 0; --left) {
    if (d.percent(50))
      send(s, *g, d, extended(frame_kind::eager, d.between(100, 30'000), 0, any_tag_of(d), 50));
    else
      send(s, *g, d,
           extended(frame_kind::rts, d.between(1, 5) << 48 | d.between(100, 100'000), 0,
                    any_tag_of(d), 50));
    if (d.percent(50)) send(s, *g, d, plain(frame_kind::more, 0, any_size(d, 5000)));
  }
}

void storm_of_cancels(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  tie* const t = scene::some_way(*g, d);
  const bool waits = d.percent(50);
  const std::uint64_t many = d.percent(3) ? 300'000 : d.between(10, 400);
  for (std::uint64_t left = t ? many : 0; left != 0; --left) {
    const std::uint64_t number = d.between(1, 40);
    send_by(s, *g, *t, d,
            extended(frame_kind::rts, number << 48 | 100'000, 0, tag_left_lying, 0, eager_ends), 0);
    if (!send_by(s, *g, *t, d, extended(frame_kind::cancel, number), 0)) break;
    if (waits && left % 16 == 0) g->look();
  }
}

/// Uses all the credit, and more.
void fill_up(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  tie* const t = scene::some_way(*g, d);
  const std::uint32_t size = any_size(d, 16'000);
  const bool headers = d.percent(40), open_ended = headers && d.percent(50);
  for (std::uint64_t left = t ? d.between(10, 1500) : 0; left != 0; --left) {
    const draft f =
        headers ? extended(frame_kind::rts, std::uint64_t{1 + left % 60'000} << 48 | 1'000'000, 0,
                           tag_left_lying, 0, open_ended ? 0u : eager_ends | starved)
                : plain(frame_kind::eager, tag_left_lying, size, eager_ends);
    if (!send_by(s, *g, *t, d, f, 0)) break;
    if (!open_ended) continue;
    // None of the message has come when its beginning is over.
    if (!send_by(s, *g, *t, d, plain(frame_kind::more, 0, 0, eager_ends), 0)) break;
  }
}

void send_any_frame(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  for (std::uint64_t left = d.between(1, 3); left != 0; --left) {
    draft f{{any_tag_of(d), any_size(d, 3000), static_cast<std::uint8_t>(d.below(26)),
             static_cast<std::uint8_t>(any_word(d)), static_cast<std::uint16_t>(any_word(d))},
            {any_number(*g, d), any_word(d), any_word(d)}};
    if (d.percent(50)) f.x.a = any_word(d);
    send(s, *g, d, f, 0);
  }
}

void replay(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  for (std::uint64_t left = d.between(1, 8); g && left != 0 && !s.sent.empty(); --left) {
    const auto& [h, x] = d.one_of(s.sent);
    send(s, *g, d, {h, x}, 5);
  }
}

/// Frames that only multi-rail links know.
void frames_of_several_links(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  const std::uint64_t number = d.percent(70) ? d.below(8) : any_word(d);
  switch (d.below(4)) {
    case 0:
      send(s, *g, d, plain(frame_kind::ordered, number, any_size(d, 3000)));
      break;
    case 1:
      send(s, *g, d,
           extended(frame_kind::data, any_number(*g, d), d.below(300'000), number,
                    any_size(d, 8000)));
      break;
    case 2:
      send(s, *g, d, extended(frame_kind::arrived, d.below(4), number));
      break;
    default: {
      draft f = extended(frame_kind::arrived, d.below(3), d.below(100));
      f.h.flags |= flag_immediate;
      f.x.immediate = weft::proto::link_given_up;
      send(s, *g, d, f);
    }
  }
}

}  // namespace hostile
