// SPDX-License-Identifier: Apache-2.0
// Receiving over several links: each number is taken once.
#include <cstring>
#include <new>

#include "proto/peer/peer.hpp"
#include "proto/rails/multi_rail_link.hpp"

namespace weft::proto {

namespace {

// The other side keeps sent frames until it is told of their arrival: at once for a fragment, whose
// memory an application waits for, else when so much has gathered.
constexpr std::uint64_t untold_frames = 16;
constexpr std::uint64_t untold_bytes_limit = 64 * 1024;

// Bytes of ordered frames that need no credit and may arrive before an earlier one.
constexpr std::size_t early_controls = 8u << 20;

// How many frames that waited for an earlier one are delivered at once.
constexpr std::size_t frames_at_once = 256;

}  // namespace

/// Delivers ordered frames in order, each once, whichever rail they came by.
bool multi_rail_link::take_ordered(const frame_header& outer, const std::byte* block) noexcept {
  const std::uint64_t number = outer.tag;
  if (number < expected_) return true;  // a second time
  if (number != expected_ || has_turn()) {
    // Frames that need credit cannot exceed the granted window.
    const std::size_t most =
        std::size_t{peer_.writer().flow().window()} * credit_unit + early_controls;
    if (number - expected_ > 2 * most_ahead || early_bytes_ + outer.size > most) return false;
    try {
      const auto [at, fresh] = early_.try_emplace(number, block, block + outer.size);
      if (fresh) early_bytes_ += at->second.size();
    } catch (const std::bad_alloc&) {
      peer_.give_up(errc::out_of_memory, "no memory for what overtook an earlier message");
    }
    return deliver_early(2);  // the backlog shrinks, however many frames arrive
  }
  ++expected_;
  if (!deliver(block, outer.size)) return false;
  return deliver_early(frames_at_once);
}

/// Delivers frames that waited for earlier ones, in slices: there may be many. \param most at most
/// so many
bool multi_rail_link::deliver_early(std::size_t most) noexcept {
  for (; has_turn() && most != 0; --most) {
    const auto next = early_.extract(early_.begin());
    early_bytes_ -= next.mapped().size();
    ++expected_;
    if (!deliver(next.mapped().data(), next.mapped().size())) return false;
  }
  if (!has_turn() || delivering_later_) return true;
  delivering_later_ = deliver_later(peer_.shared_from_this()).started;
  if (!delivering_later_) peer_.connection().mark_failed();
  return true;
}

protocol_coroutine multi_rail_link::deliver_later(std::shared_ptr<peer> p) noexcept {
  co_await services_.upkeep.yield();
  if (p->connection().several() != this) co_return;  // the link has ended
  delivering_later_ = false;
  if (!deliver_early(frames_at_once))
    p->on_broken(errc::protocol_error);
  else if (!has_turn() && dead_ != errc::ok)
    p->on_broken(dead_);
}

/// Frames that had arrived by then are delivered all the same.
void multi_rail_link::all_dead(errc why) noexcept {
  if (has_turn() && !peer_.has_ended())
    dead_ = why;
  else
    peer_.on_broken(why);
}

/// Delivers a block: header, extension if there is one, payload.
bool multi_rail_link::deliver(const std::byte* block, std::size_t size) noexcept {
  frame_header h;
  frame_extension x{};
  if (size < sizeof h) return false;
  std::memcpy(&h, block, sizeof h);
  const std::size_t head = sizeof h + transports::extension_size(h);
  if (size < head || size - head != h.size) return false;
  std::memcpy(&x, block + sizeof h, head - sizeof h);
  return peer_.on_frame(h, transports::extension_of(h, x), block + head);
}

bool multi_rail_link::take_fragment(const frame_header& h, const frame_extension& x,
                                    const std::byte* payload) noexcept {
  if (fragments_.has(h.tag)) return true;  // a second time
  if (h.tag - fragments_.first_missing() > most_ahead) return false;
  try {
    fragments_.add(h.tag);
  } catch (const std::bad_alloc&) {
    peer_.give_up(errc::out_of_memory, "no memory to remember what has come");
    return true;
  }
  return peer_.on_fragment(h, x, payload);
}

mutable_buffer multi_rail_link::rail::place(const frame_header& h, const frame_extension* x,
                                            std::uint32_t already) noexcept {
  if (h.kind != static_cast<std::uint8_t>(frame_kind::data) || !x || in.fragments_.has(h.tag))
    return {};
  return in.peer_.place_fragment(h, *x, already);
}

bool multi_rail_link::rail::on_frame(const frame_header& h, const frame_extension* x,
                                     const std::byte* payload) noexcept {
  const auto kind = static_cast<frame_kind>(h.kind);
  const bool fragment = kind == frame_kind::data && x;
  if (!fragment && (kind != frame_kind::ordered || x || !payload)) return false;
  // A closed peer may still send a good-bye, or its answer.
  if (in.peer_.has_ended() && (fragment || in.peer_.now() != peer::state::closed)) return true;
  const bool understood = fragment ? in.take_fragment(h, *x, payload) : in.take_ordered(h, payload);
  if (!understood) return false;
  ++received;
  untold_bytes += h.size;
  if (fragment || received - told >= untold_frames || untold_bytes >= untold_bytes_limit) {
    told = received;
    untold_bytes = 0;
    in.peer_.writer().tell_arrived(number, received);
  }
  return true;
}

void multi_rail_link::rail::on_writable() noexcept {
  full = false;
  in.go_on();
}

void multi_rail_link::rail::on_descriptor(unique_fd file, std::uint32_t what) noexcept {
  in.peer_.on_descriptor(std::move(file), what);
}

void multi_rail_link::rail::on_broken(errc why) noexcept {
  in.give_up(*this);
  if (why == errc::protocol_error) return in.peer_.on_broken(why);
  if (!in.alive()) return in.all_dead(why);
  if (in.untold_ != 0)
    in.peer_.connection().want_link();  // a side that has only received has no link to tell by
  in.go_on();
}

}  // namespace weft::proto
