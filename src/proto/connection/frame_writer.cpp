// SPDX-License-Identifier: Apache-2.0
#include "proto/connection/frame_writer.hpp"

#include <utility>

#include "proto/frames/frame_names.hpp"
#include "proto/match/unexpected_memory.hpp"
#include "proto/rails/multi_rail_link.hpp"

namespace weft::proto {

transports::post frame_writer::post(frame_header header, const frame_extension* extension,
                                    transports::gather& data, std::uint64_t left) noexcept {
  header.credit = flow_.for_next_frame();
  transports::link& link = *connection_->link();
  runtime::engine& engine = services_->engine;
  runtime::call_tree* const tree = engine.trace().tree();
  const std::uint64_t rung = tree ? engine.bells_rung() : 0;
  const transports::post answer = left != 0 ? link.send_large(header, extension, data, left)
                                            : link.send(header, extension, data);
  if (answer == transports::post::done || answer == transports::post::posted)
    flow_.returned(header.credit);
  refused_ = answer == transports::post::busy;
  if (tree) [[unlikely]] {
    tree->note(refused_ ? "no room for a frame to" : "frame to",
               subject_of(connection_->id(), header, extension));
    if (engine.bells_rung() != rung) tree->note("doorbell", {});
  }
  return answer;
}

/// A peer that misses a control frame that it waits for would wait without end.
bool frame_writer::add_control(const control_queue::entry& c) noexcept {
  const errc status = controls_.add(c);
  if (status != errc::ok) connection_->mark_failed(status);
  return status == errc::ok;
}

void frame_writer::send_control(frame_kind kind, std::uint64_t a, std::uint64_t b,
                                std::uint64_t immediate) noexcept {
  const std::uint8_t flags = kind == frame_kind::credit ? 0
                             : immediate == 0
                                 ? transports::has_extension
                                 : transports::has_extension | transports::has_immediate;
  if (connection_->has_ended()) return;
  if (!add_control({header_of(kind, 0, 0, flags), {a, b, immediate}})) return;
  if (connection_->is_open())
    flush();
  else
    connection_->want_link();
}

void frame_writer::send_quietly(frame_kind kind, std::uint64_t a) noexcept {
  if (connection_->is_open() && controls_.empty()) {
    transports::gather nothing;
    const frame_extension x{a, 0, 0};
    const frame_header h = header_of(kind, 0, 0, transports::has_extension);
    if (post(h, &x, nothing) == transports::post::done) return;
  }
  send_control(kind, a);
}

void frame_writer::tell_arrived(std::uint64_t rail, std::uint64_t frames) noexcept {
  if (!controls_.update_arrived(rail, frames)) send_control(frame_kind::arrived, rail, frames);
}

bool frame_writer::flush() noexcept {
  transports::gather nothing;
  while (!controls_.empty()) {
    const control_queue::entry& c = controls_.front();
    if (post(c.header, c.has_extension() ? &c.extension : nullptr, nothing) !=
        transports::post::done) {
      note_unsent();
      return false;
    }
    if (needs_reaction(c.kind())) wake_peer();
    good_bye_left_ = good_bye_left_ || (c.kind() == frame_kind::bye && c.extension.a == good_bye);
    controls_.pop();
  }
  note_unsent();
  return true;
}

/// Credit that the peer does not wait for is no reason to wake a thread. A signal is a message of
/// no bytes: as any small one, it rings only for a side that sleeps or listens. So does a frame
/// that only ends an operation: a coroutine that computes could do nothing about it.
bool frame_writer::needs_reaction(frame_kind kind) noexcept {
  switch (kind) {
    case frame_kind::credit:
      return flow_.stop_waiting();
    case frame_kind::signal:
      return false;
    case frame_kind::fin_ack:
    case frame_kind::fin:
    case frame_kind::matched:
    case frame_kind::cancelled:
    case frame_kind::accessed:
      return connection_->link()->acts_on_ends();
    default:
      return true;
  }
}

void frame_writer::wake_peer() noexcept {
  runtime::engine& engine = services_->engine;
  if (engine.in_pass() || engine.peers_find_out()) return engine.defer_wakeup();
  if (connection_->link()->traits().shares_memory && engine.rings_soon()) return;
  if (runtime::call_tree* const tree = engine.trace().tree()) [[unlikely]]
    tree->note("doorbell if it is needed, of", {.peer = connection_->id()});
  if (connection_->link()->wake_peer()) engine.rang_at_once();
  engine.await_reaction();
}

/// Resumes each waiting protocol once: with thousands of long messages under way, to wake all of
/// them for one frame's space would cost more than the frames. The protocols that are left come
/// first when the link is writable.
void frame_writer::resume() noexcept {
  const waiter* last = waiting_.last();
  for (bool more = true; more && !waiting_.empty() && !refused_;) {
    more = waiting_.first() != last;
    waiting_.resume_first(true);
  }
}

void frame_writer::on_credit(std::uint16_t units) noexcept {
  flow_.add_credit(units);
  if (!waiting_.empty()) resume();
}

bool frame_writer::settle(std::uint16_t units) noexcept {
  if (flow_.must_return()) return_credit();
  if (units != 0) on_credit(units);
  return true;
}

void frame_writer::return_credit() noexcept {
  if (connection_->has_ended()) return services_->memory.give_back(flow_.take_released());
  // A frame returns 16 bits of credit; a window that has grown may have more to return. Control
  // frames that wait for space will carry the credit that is to be returned by then.
  const std::size_t frames = flow_.to_return() / 0xffff + 1;
  for (std::size_t i = controls_.size(); i < frames && !connection_->has_ended(); ++i)
    send_control(frame_kind::credit, 0);
}

void frame_writer::grow_window() noexcept {
  flow_.note_peer_waits();
  if (flow_.should_grow()) flow_.grow(services_->memory.take(flow_.window()));
  services_->upkeep.note_starved(*this, flow_.should_grow() && flow_.is_used_up());
  if (flow_.to_return() != 0) return_credit();
}

std::uint32_t frame_writer::grant_first_credit() noexcept {
  if (connection_->has_ended())
    return 0;  // its offer was under way; the credit would not come back
  if (flow_.window() == 0) flow_.set_window(services_->memory.take_first());
  return flow_.window();
}

/// The peer waits for a control frame that waits for space, and no operation of this side does: so
/// the thread that makes passes has to go on until the frame has left. The same holds for frames
/// that a multi-rail link has to send again.
bool frame_writer::unsent() const noexcept {
  if (connection_->now() == peer_connection::state::lost) return false;
  return (connection_->link() && (!controls_.empty() || serving_ != 0)) ||
         (connection_->several() && connection_->several()->owes());
}

/// A peer that has closed the connection, and left since, takes no answer.
bool frame_writer::owes() const noexcept {
  if (connection_->now() == peer_connection::state::lost) return false;
  if (connection_->has_ended() && !connection_->link()) return false;
  return controls_.owes() || serving_ != 0 ||
         (connection_->several() && connection_->several()->owes()) ||
         (connection_->link() && connection_->link()->unwritten());
}

void frame_writer::note_unsent() noexcept {
  const bool now = unsent();
  if (now != std::exchange(unsent_noted_, now)) services_->upkeep.has_unsent(now);
}

void frame_writer::end() noexcept {
  controls_.clear();
  note_unsent();
  services_->upkeep.note_starved(*this, false);
  services_->memory.give_back(flow_.end());
}

frame_writer::balance frame_writer::credit_state() const noexcept {
  return {flow_.credit(),
          flow_.window(),
          flow_.in_use(),
          flow_.to_return(),
          controls_.count(frame_kind::credit),
          controls_.size()};
}

}  // namespace weft::proto
