// SPDX-License-Identifier: Apache-2.0
// Memory that the attacker lends to the victim, or says so.
#include <algorithm>
#include <cstring>

#include "acts.hpp"
#include "frames.hpp"

namespace hostile {

using weft::proto::eager_ends;
using weft::transports::remote_address;

namespace {

constexpr std::size_t lendable_bytes = 64 * 1024;

/// A part of the attacker's own memory, as the link shows it; else any place.
remote_address some_place(guise& g, tie& t, dice& d, std::uint64_t size) {
  const weft::runtime::engine::holder hold(g.turns);
  if (t.lendable.empty()) t.lendable = t.transport.allocate(lendable_bytes);
  if (!t.lendable.empty() && t.link && d.percent(85)) {
    const std::size_t n = std::min<std::size_t>(size, t.lendable.size());
    const std::size_t at = d.below((t.lendable.size() - n) / 64 + 1) * 64;
    if (const auto shown = t.link->expose(t.lendable.subspan(at, n)))
      return d.percent(90) ? *shown : shown->after(d.below(3) * 32);
  }
  return remote_address::unpack(d.percent(50) ? any_word(d) : d.throw_one() >> d.below(40));
}

}  // namespace

/// The victim reads it in place, if it has such a receive. It may be longer than what is there.
void lend_memory(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  tie* const t = g ? scene::some_way(*g, d) : nullptr;
  if (t && t->lendable.empty()) {
    some_place(*g, *t, d, 1);
    // The victim learns of the memory by the control plane, and can read it from then on.
    if (d.percent(80)) s.wait(std::chrono::milliseconds(3));
  }
  for (std::uint64_t left = t ? d.between(1, 6) : 0; left != 0; --left) {
    const std::uint64_t size = d.percent(90) ? any_size(d, 60'000) : d.below(1'000'000);
    const remote_address where = some_place(*g, *t, d, size);
    const std::uint64_t number = d.percent(80) ? d.between(1, 60) : any_number(*g, d) & 0xffff;
    send_by(s, *g, *t, d,
            extended(frame_kind::rts, number << 48 | size, where.packed(), any_tag_of(d), 0,
                     eager_ends | weft::proto::lends),
            2);
  }
}

/// Changes what the victim may be reading.
void overwrite_loans(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  for (const auto& t : g->ties)
    if (!t->lendable.empty())
      std::memset(t->lendable.data(), static_cast<int>(d.below(256)), t->lendable.size());
}

}  // namespace hostile
