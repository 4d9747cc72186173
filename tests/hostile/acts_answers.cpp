// SPDX-License-Identifier: Apache-2.0
// The attacker's answers to the victim's requests.
#include <algorithm>

#include "acts.hpp"
#include "frames.hpp"

namespace hostile {

namespace {

using namespace weft::proto;

std::uint64_t id_above(const heard& h) { return h.extension.a >> 48; }

/// The data that the victim asked for, in pieces; sometimes only a part of it.
void send_data(scene& s, guise& g, dice& d, std::uint64_t to, unsigned spoilt) {
  std::uint64_t offset = d.percent(70) ? 0 : d.below(20'000);
  for (std::uint64_t pieces = d.between(1, 12); pieces != 0; --pieces) {
    const std::uint32_t n = d.percent(80) ? 16'384 : any_size(d, 30'000);
    if (!send(s, g, d, extended(frame_kind::data, to, offset, 0, n), spoilt)) return;
    offset += n;
  }
}

void give(scene& s, guise& g, dice& d, const heard& h, unsigned spoilt) {
  std::uint64_t offset = 0;
  const std::uint64_t size = std::min<std::uint64_t>(h.extension.b, 100'000);
  do {
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(size - offset, 16'000));
    const bool last = offset + n == size && !d.percent(5);
    if (!send(
            s, g, d,
            extended(frame_kind::got, id_above(h) << 48 | offset, 0, 0, n, last ? access_ends : 0u),
            spoilt))
      return;
    offset += n;
  } while (offset < size && !d.percent(5));
}

std::uint64_t a_place(dice& d) { return d.percent(50) ? d.throw_one() >> 16 : any_word(d); }

/// Answers as a correct peer might, or nearly so.
void answer(scene& s, guise& g, dice& d, const heard& h, unsigned spoilt) {
  switch (static_cast<frame_kind>(h.header.kind)) {
    case frame_kind::eager:  // the victim may wait for `matched`
      if (h.extension.b != 0) send(s, g, d, extended(frame_kind::matched, h.extension.b), spoilt);
      return;
    case frame_kind::rts:
      switch (d.below(5)) {
        case 0:
          send(s, g, d, extended(frame_kind::fin_ack, id_above(h)), spoilt);
          return;
        case 1: {
          draft f = extended(frame_kind::cts, id_above(h), d.between(1, 9), 0, 0, flag_immediate);
          f.x.immediate = a_place(d);
          send(s, g, d, f, spoilt);
          return;
        }
        default: {
          const std::uint64_t mine = d.between(1, 9);
          send(s, g, d, extended(frame_kind::cts, id_above(h), mine), spoilt);
          if (d.percent(20))
            send(s, g, d, extended(frame_kind::stop_data, id_above(h), mine), spoilt);
          return;
        }
      }
    case frame_kind::cts:
      if (d.percent(80)) send_data(s, g, d, h.extension.b, spoilt);
      if (d.percent(h.extension.immediate != 0 ? 60 : 5))
        send(s, g, d, extended(frame_kind::fin, h.extension.b), spoilt);
      return;
    case frame_kind::cancel:
      send(s, g, d,
           extended(d.percent(70) ? frame_kind::cancelled : frame_kind::fin_ack, h.extension.a),
           spoilt);
      return;
    case frame_kind::stop_data:
      send(s, g, d, extended(frame_kind::data, h.extension.b, d.below(300'000)), spoilt);
      return;
    case frame_kind::bye:
      send(s, g, d, extended(frame_kind::bye, bye_answer), spoilt);
      return;
    case frame_kind::get:
      if (d.percent(70)) return give(s, g, d, h, spoilt);
      [[fallthrough]];
    case frame_kind::put:
    case frame_kind::update: {
      const bool grants = d.percent((h.header.flags & access_asks) != 0 ? 60 : 10);
      if (grants)
        send(s, g, d, extended(frame_kind::granted, id_above(h), d.percent(40) ? 0 : a_place(d)),
             spoilt);
      else
        send(s, g, d,
             extended(frame_kind::accessed, (d.percent(70) ? 0 : d.below(7)) << 16 | id_above(h),
                      any_word(d)),
             spoilt);
      return;
    }
    case frame_kind::granted:
      if (d.percent(70)) send(s, g, d, extended(frame_kind::released, h.extension.a), spoilt);
      return;
    default:
      return;
  }
}

void answer_some(scene& s, dice& d, unsigned spoilt, bool twice) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  g->look();
  for (std::uint64_t left = d.between(1, 6); left != 0 && !g->memory.empty(); --left) {
    const std::size_t at = d.percent(70) ? 0 : d.below(g->memory.size());
    const heard h = g->memory[at];
    if (!twice) g->memory.erase(g->memory.begin() + static_cast<std::ptrdiff_t>(at));
    answer(s, *g, d, h, spoilt);
  }
}

}  // namespace

void answer_well(scene& s, dice& d) { answer_some(s, d, 1, false); }

/// Spoilt answers; the request stays remembered and may be answered again.
void answer_badly(scene& s, dice& d) { answer_some(s, d, 30, true); }

void answer_unasked(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  constexpr frame_kind kinds[] = {
      frame_kind::cts,      frame_kind::data,      frame_kind::fin_ack,   frame_kind::matched,
      frame_kind::fin,      frame_kind::stop_data, frame_kind::cancelled, frame_kind::got,
      frame_kind::accessed, frame_kind::granted,   frame_kind::released,  frame_kind::credit};
  const frame_kind kind = d.one_of(kinds);
  const std::uint64_t number = any_number(*g, d);
  const bool above = kind == frame_kind::got;
  draft f = extended(kind, above ? number << 48 : number, any_number(*g, d), 0,
                     kind == frame_kind::data || above ? any_size(d, 16'000) : 0);
  if (kind == frame_kind::credit) f = plain(kind);
  f.h.credit = d.percent(20) ? static_cast<std::uint16_t>(any_word(d)) : 0;
  send(s, *g, d, f);
}

/// For a victim that accesses the memory that it is told of; other acts answer its requests.
void show_memory(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  // The junk in the payloads serves as a key: any key will do.
  send(s, *g, d, plain(frame_kind::eager, d.below(12), 24, eager_ends), 0);
  s.look();
}

}  // namespace hostile
