// SPDX-License-Identifier: Apache-2.0
// Calls, replies and frames of collectives.
#include <algorithm>
#include <array>

#include "acts.hpp"
#include "frames.hpp"
#include "honest.hpp"
#include "proto/frames/call_wire.hpp"
#include "proto/groups/group_table.hpp"

namespace hostile {

using weft::proto::call_kind;
using weft::proto::call_tag;
using weft::proto::eager_ends;

namespace {

/// A handler of the victim, or none.
std::uint32_t any_handler(dice& d) {
  return static_cast<std::uint32_t>(d.percent(80) ? d.between(1, 6) : any_word(d));
}

/// A message with that tag: in one frame, in several, or announced.
void send_with(scene& s, guise& g, dice& d, std::uint64_t tag, std::uint64_t word) {
  const std::uint32_t size = any_size(d, 12'000);
  const auto first = static_cast<std::uint32_t>(d.percent(60) ? size : d.below(size + 1));
  const bool announced = d.percent(30);
  draft f =
      announced
          ? extended(frame_kind::rts, d.between(1, 60) << 48 | std::max<std::uint64_t>(size, 1), 0,
                     tag, first, eager_ends)
          : extended(frame_kind::eager, size, 0, tag, first, first == size ? eager_ends : 0);
  if (word != 0) {
    f.h.flags |= flag_immediate;
    f.x.immediate = word;
  }
  send(s, g, d, f);
  if (!announced && first != size)
    send(s, g, d, plain(frame_kind::more, 0, size - first, eager_ends));
}

/// The number of a call of the victim that this side has heard, or any.
std::uint16_t any_call_of_victim(const guise& g, dice& d) {
  for (auto h = g.memory.rbegin(); h != g.memory.rend(); ++h)
    if (weft::proto::is_call(h->header.tag) && d.percent(60))
      return weft::proto::unpack_call(h->header.tag).id;
  return static_cast<std::uint16_t>(d.percent(80) ? d.below(8) : d.throw_one());
}

/// The group of honest peers, the world, or any other number.
std::uint64_t any_group(dice& d) {
  if (d.percent(60)) return number_of_honest_group();
  return d.percent(50) ? 0 : any_word(d);
}

}  // namespace

void call_handlers(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  const std::uint64_t many = d.percent(95) ? d.between(1, 8) : d.between(100, 1000);
  for (std::uint64_t n = 0; n != many; ++n) {
    call_tag t{d.percent(70) ? call_kind::request : call_kind::post, 0, any_handler(d)};
    if (t.kind == call_kind::request || d.percent(3))
      t.id = static_cast<std::uint16_t>(d.percent(90) ? 1 + n : d.throw_one());
    const std::uint64_t deadline = d.percent(70) ? 0 : any_word(d) >> d.below(50);
    send_with(s, *g, d, d.percent(97) ? t.packed() : t.packed() ^ std::uint64_t{1} << d.below(56),
              t.kind == call_kind::request || d.percent(3) ? deadline : 0);
  }
}

void reply_to_calls(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  for (std::uint64_t left = d.between(1, 5); left != 0; --left) {
    const auto status = static_cast<std::uint32_t>(d.percent(90) ? d.below(3) : any_word(d));
    const call_tag t{call_kind::reply, any_call_of_victim(*g, d), status};
    send_with(s, *g, d, t.packed(), d.percent(95) ? 0 : any_word(d));
  }
}

void stop_calls(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  const std::uint64_t many = d.percent(90) ? d.between(1, 10) : d.between(1000, 5000);
  for (std::uint64_t left = g ? many : 0; left != 0; --left) {
    const std::uint64_t number = d.percent(95) ? d.below(1100) : any_word(d);
    if (!send(s, *g, d, extended(frame_kind::call_stop, number), 1)) break;
  }
}

/// As a member of a group does; but it is none.
void meddle_in_groups(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  const std::uint64_t many = d.percent(90) ? d.between(1, 10) : d.between(300, 600);
  for (std::uint64_t left = many; left != 0; --left) {
    const std::uint64_t group = any_group(d);
    const std::uint64_t word = d.below(40) << 32 | d.below(4);
    bool sent = true;
    if (d.percent(50))
      sent = send(s, *g, d, extended(frame_kind::signal, weft::proto::revoke_tag(group), word), 2);
    else if (d.percent(50))
      sent = send(s, *g, d,
                  extended(frame_kind::signal,
                           weft::proto::barrier_tag(group, static_cast<unsigned>(d.below(32))),
                           d.percent(50) ? 0 : word),
                  2);
    else
      send_with(s, *g, d, weft::proto::message_tag(group, d.throw_one()), d.percent(90) ? 0 : word);
    if (!sent) break;
  }
}

}  // namespace hostile
