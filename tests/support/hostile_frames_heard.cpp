// SPDX-License-Identifier: Apache-2.0
// What a hostile peer learns from the frames of its victim.
#include <algorithm>

#include "proto/frames/call_wire.hpp"
#include "support/hostile_lists.hpp"

namespace weft::tests {

using namespace hostile;

void hostile_frames::heard(const frame_header& h, const frame_extension* x) {
  credit_ += h.credit;
  const auto kind = static_cast<frame_kind>(h.kind);
  keep(past_, {h, x ? *x : frame_extension{}});
  if (kind == frame_kind::eager || kind == frame_kind::rts) owed_ += proto::units_of(h.size);
  if (kind == frame_kind::more) owed_ += proto::payload_units(h.size);
  if (kind == frame_kind::bye) heard_bye_ = true;
  if ((kind == frame_kind::eager || kind == frame_kind::rts) && proto::is_call(h.tag))
    if (const proto::call_tag t = proto::unpack_call(h.tag); t.kind == proto::call_kind::request)
      keep(calls_of_theirs_, t.id);
  if (!x) return;
  keep(words_, x->a);
  keep(words_, x->b);
  const auto mine = [&] {
    return std::find_if(messages_.begin(), messages_.end(),
                        [&](const message& m) { return m.id == x->a; });
  };
  switch (kind) {
    case frame_kind::eager:
      if (x->b != 0) keep(messages_of_theirs_, {kind, static_cast<std::uint16_t>(x->b), x->a});
      break;
    case frame_kind::rts:
      keep(messages_of_theirs_,
           {kind, static_cast<std::uint16_t>(x->a >> 48), x->a & proto::size_mask});
      if (x->b != 0) keep(shown_, x->b);
      break;
    case frame_kind::cts:
      if (const auto m = mine(); m != messages_.end()) m->theirs = static_cast<std::uint16_t>(x->b);
      if (x->immediate != 0) keep(shown_, x->immediate);
      break;
    case frame_kind::fin_ack:
    case frame_kind::matched:
    case frame_kind::cancelled:
      if (const auto m = mine(); m != messages_.end()) messages_.erase(m);
      break;
    case frame_kind::cancel:
      keep(cancels_, x->a);
      break;
    default:
      heard_access(kind, h, *x);
  }
}

void hostile_frames::heard_access(frame_kind kind, const frame_header& h,
                                  const frame_extension& x) {
  const auto id = static_cast<std::uint16_t>(x.a >> 48);
  const bool asks = (h.flags & proto::access_asks) != 0;
  const bool ends = (h.flags & proto::access_ends) != 0;
  // The count that its sender has reached by its end.
  const std::uint64_t so_far = kind == frame_kind::put ? put_heard_ += h.size : 0;
  if (kind == frame_kind::put && (asks || ends)) {
    put_heard_ = 0;
    keep(accesses_of_theirs_, {kind, id, asks ? x.b : so_far, asks});
  } else if (kind == frame_kind::get)
    keep(accesses_of_theirs_, {kind, id, x.b, asks});
  else if (kind == frame_kind::update)
    keep(accesses_of_theirs_, {kind, id, 8, false});
  else if (kind == frame_kind::granted && x.b != 0) {
    keep(given_, {x.a, x.b});
    keep(shown_, x.b);
  }
}

}  // namespace weft::tests
