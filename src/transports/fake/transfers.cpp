// SPDX-License-Identifier: Apache-2.0
// Reads and writes of other nodes' memory.
#include <algorithm>

#include "transports/fake/transport.hpp"

namespace weft::transports::fake {

namespace {
// Distinguishes the numbers of transfers from those of frames.
constexpr std::uint64_t of_transfers = 1u << 31;
}  // namespace

/// Sets when the transfer ends, and whether it fails.
void world::set_out(wire& w, wire::transfer& t) const noexcept {
  const std::uint64_t number = of_transfers | w.transferred++;
  const time takes = way(w, number);
  t.half = elapsed() + takes / 2;
  t.due = elapsed() + takes;
  if (!w.transfers.empty()) t.due = std::max(t.due, w.transfers.back().due);
  t.fails = chance_of(w, number) / 128 % 100 < w.how.failing;
}

/// The memory that the transfer reaches, if the other side still shows it; null: withdrawn, or the
/// node is dead.
const wire::place* world::find(const wire& w, const wire::transfer& t) const noexcept {
  const auto there = nodes_.find(w.to);
  if (there == nodes_.end() || there->second.dead) return nullptr;
  for (const fake_transport* owner : there->second.transports)
    for (const wire* back : owner->out_) {
      if (back->to != w.from || back->how.name != w.how.name) continue;
      const auto it = back->shown.find(t.at.region);
      if (it == back->shown.end()) continue;
      const wire::place& p = it->second;
      const bool within = t.at.offset <= p.size && t.size <= p.size - t.at.offset;
      return within && p.writable == t.put ? &p : nullptr;
    }
  return nullptr;
}

/// Moves the bytes up to `upto`. \return false: not possible
bool world::move(wire& w, wire::transfer& t, std::size_t upto) const noexcept {
  const wire::place* const p = find(w, t);
  if (!p || w.broken) return false;
  while (t.moved < upto) {
    std::byte* const there = p->at + t.at.offset + t.moved;
    const std::size_t n =
        t.put ? t.data.run(upto - t.moved).size() : t.into.run(upto - t.moved).size();
    if (n == 0) return false;
    if (t.put)
      std::copy_n(t.data.run(n).begin(), n, there);
    else
      std::copy_n(there, n, t.into.run(n).begin());
    t.put ? t.data.skip(n) : t.into.skip(n);
    t.moved += n;
  }
  return true;
}

void world::end(wire& w, wire::transfer& t) const noexcept {
  if (!t.over) move(w, t, t.fails ? t.size / 2 : t.size);
  t.over = true;
}

/// Puts arrive before frames that were sent after them, also if their sender has no turn meanwhile.
/// If a put fails that should fail in order, the frames on the wire are lost.
void world::land(wire& w, time until) const noexcept {
  for (wire::transfer& t : w.transfers) {
    if (!t.put || t.due > until) continue;
    end(w, t);
    if (w.how.fails_in_order && t.moved != t.size) w.drop_frames();
  }
}

std::size_t world::shown() const noexcept {
  std::size_t all = 0;
  for (const auto& [n, who] : nodes_)
    if (!who.dead)
      for (const fake_transport* t : who.transports)
        for (const wire* w : t->out_) all += w->shown.size();
  return all;
}

}  // namespace weft::transports::fake
