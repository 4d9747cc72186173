// SPDX-License-Identifier: Apache-2.0
#include "sim/accounts.hpp"

#include <algorithm>

#include "proto/frames/frames.hpp"

namespace sim {

using weft::proto::frame_kind;

namespace {

/// Units of credit that a frame uses.
std::int64_t units_in(const weft::transports::frame_header& h) {
  switch (static_cast<frame_kind>(h.kind)) {
    case frame_kind::eager:
    case frame_kind::rts:
      return weft::proto::units_of(h.size);
    case frame_kind::more:
      return weft::proto::payload_units(h.size);
    default:
      return 0;
  }
}

/// A message's tag, that of a signal, or a region's number: the other half of the region's key does
/// not depend on the seed.
std::uint64_t tag_in(const fake::wire::frame& f) {
  const auto& h = f.header;
  const auto kind = static_cast<frame_kind>(h.kind);
  if (kind == frame_kind::signal && f.extended) return f.extension.a;
  const bool key = kind == frame_kind::put || kind == frame_kind::get || kind == frame_kind::update;
  return key ? h.tag >> 32 : h.tag;
}

}  // namespace

void accounts::on_wire(const fake::world& w, fake::happening what, const fake::wire& wire,
                       const fake::wire::frame& frame) {
  const auto& h = frame.header;
  static constexpr const char* texts[] = {
      "rank {} sends to rank {}: kind {}, {} bytes, tag {:#x}, credit {}",
      "rank {} finds no room to rank {}: kind {}, {} bytes, tag {:#x}, credit {}",
      "from rank {} arrives at rank {}: kind {}, {} bytes, tag {:#x}, credit {}"};
  log_.event(texts[static_cast<int>(what)], wire.from, wire.to, int{h.kind}, h.size, tag_in(frame),
             int{h.credit});
  if (what == fake::happening::refused) return;
  const int sign = what == fake::happening::posted ? 1 : -1;
  ways_[{wire.from, wire.to}].units += sign * units_in(h);
  ways_[{wire.to, wire.from}].credit += sign * h.credit;
  if (what == fake::happening::posted) return;
  ++frames_;
  // In each turn its transport takes a few frames of every link, or a piece of one; then the turn's
  // own time passes.
  const std::size_t per_turn = std::min(wire.how.room, wire.how.frames_per_poll);
  const std::size_t turns = (wire.how.places ? 4 * wire.how.room : wire.how.room / per_turn) + 2;
  const nanoseconds late = w.elapsed() - std::max(frame.due, w.awake_since(wire.to));
  if (late > turn_ * static_cast<int>(turns))
    log_.violation("a frame from rank {} to rank {} was heard {} ns late by transport {}: starved",
                   wire.from, wire.to, late.count(), wire.how.name);
}

void accounts::check_credit(const weft::proto::peer& from, node sender, const weft::proto::peer& to,
                            node receiver) {
  const on_the_way& way = ways_[{sender, receiver}];
  if (way.lost) return;
  const auto there = to.writer().credit_state();
  const auto here = from.writer().credit_state();
  const std::int64_t used = here.credit + way.units + there.in_use + there.to_return + way.credit;
  if (used != there.window)
    log_.violation(
        "credit of rank {} with rank {}: granted {}, but usable {} + under way {} + held {} + owed "
        "{} + coming back {}",
        sender, receiver, there.window, here.credit, way.units, there.in_use, there.to_return,
        way.credit);
  // A frame carries 16 bits of it.
  if (there.waiting_credits > 1 + there.to_return / 0xffff)
    log_.violation("rank {} lets {} frames wait to return {} units to rank {}", receiver,
                   there.waiting_credits, there.to_return, sender);
  if (here.credit < 0)
    log_.violation("rank {} used {} units more than rank {} granted", sender, -here.credit,
                   receiver);
}

void accounts::forget(node a, node b) {
  ways_[{a, b}].lost = true;
  ways_[{b, a}].lost = true;
}

}  // namespace sim
