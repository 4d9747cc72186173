// SPDX-License-Identifier: Apache-2.0
// A peer's life: link, control frames, credit, the end.
#include "proto/peer.hpp"

#include <algorithm>

#include "proto/messenger.hpp"
#include "proto/multi_rail_link.hpp"
#include "proto/rma.hpp"
#include "proto/select.hpp"

namespace weft::proto {

using transports::post;

namespace {
constexpr const char* closed_here = "this side closed it";

}  // namespace

connection_state::connection_state() = default;
connection_state& connection_state::operator=(connection_state&&) noexcept = default;
connection_state::~connection_state() = default;

peer::peer(messenger& owner, peer_id id) : owner_(owner) { id_ = id; }

peer::~peer() = default;

void peer::shrink() noexcept {
  replies_ = {};
  numbered_ = {};
  asked_ = {};
  reads_ = {};
  rma_.reset();
  closings = {};
}

void peer::recycle_as(peer_id id) {
  static_cast<connection_state&>(*this) = connection_state();
  id_ = id;
}

void peer::want_link() noexcept {
  if (state_ != state::idle) return;
  state_ = state::connecting;
  owner_.connector(*this);
}

void peer::opened(std::unique_ptr<transports::link> link, std::uint32_t credit) {
  if (!takes_link()) return;
  link_ = std::move(link);
  if (state_ == state::closed) {  // to answer the peer's good-bye
    flush_controls();
    return;
  }
  small_limit_ = std::min(longest_in_one_frame(link_->traits()), owner_.settings().eager_limit);
  inlines_ = inlines(owner_.settings().inlined, link_->traits());
  flow_.set_credit(credit);
  state_ = state::open;
  on_writable();
}

std::uint32_t peer::grant_first_credit() noexcept {
  if (gone()) return 0;  // its offer was on the way; the credit would not come back
  if (flow_.window() == 0) flow_.set_window(owner_.first_budget());
  return flow_.window();
}

void peer::add_credit_to_return(std::uint32_t units) noexcept {
  if (units != 0 && flow_.release(units)) return_credit();
}

void peer::return_credit() noexcept {
  if (gone()) return owner_.return_budget(flow_.take_released());
  // A frame carries 16 bits of it; a window that has grown may have more to return. Control frames
  // that wait for room take along what is to be returned by then.
  const std::size_t frames = flow_.to_return() / 0xffff + 1;
  for (std::size_t i = controls_.size(); i < frames && !gone(); ++i)
    send_control(frame_kind::credit, 0);
}

/// A peer that is not told something it waits for would wait for ever.
bool peer::add_control(const control_queue::entry& c) noexcept {
  const errc status = controls_.add(c);
  if (status != errc::ok) mark_failed(status);
  return status == errc::ok;
}

void peer::send_control(frame_kind kind, std::uint64_t a, std::uint64_t b,
                        std::uint64_t third) noexcept {
  const std::uint8_t flags = kind == frame_kind::credit ? 0
                             : third == 0               ? transports::has_extension
                                          : transports::has_extension | transports::has_immediate;
  if (state_ == state::lost || state_ == state::closed) return;
  if (!add_control({header_of(kind, 0, 0, flags), {a, b, third}})) return;
  if (state_ == state::open)
    flush_controls();
  else
    want_link();
}

/// What waits for room takes the news along.
void peer::tell_arrived(std::uint64_t link, std::uint64_t frames) noexcept {
  if (!controls_.update_arrived(link, frames)) send_control(frame_kind::arrived, link, frames);
}

peer::balance peer::credit_state() const noexcept {
  return {flow_.credit(),
          flow_.window(),
          flow_.in_use(),
          flow_.to_return(),
          controls_.count(frame_kind::credit),
          controls_.size()};
}

/// \return whether all have left
bool peer::flush_controls() noexcept {
  transports::gather nothing;
  while (!controls_.empty()) {
    const control_queue::entry& c = controls_.front();
    if (post_frame(c.header, c.has_extension() ? &c.extension : nullptr, nothing) != post::done) {
      note_unsent();
      return false;
    }
    const frame_kind kind = c.kind();
    // Credit that is not awaited is no reason to wake a thread.
    if (kind != frame_kind::credit || flow_.stop_waiting()) wake_peer();
    if (kind >= frame_kind::accessed) rma_->on_left(kind, c.extension);
    bye_left_ = bye_left_ || (kind == frame_kind::bye && c.extension.a == good_bye);
    controls_.pop();
  }
  note_unsent();
  return true;
}

/// A control frame that waits for room is what the peer waits for, and no operation here: the
/// thread that makes passes has to go on until it has left. So is what a multi-rail link has to
/// send again.
bool peer::unsent() const noexcept {
  if (state_ == state::lost) return false;
  return (link_ && (!controls_.empty() || (rma_ && rma_->serving()))) ||
         (multi_rail_link_ && multi_rail_link_->owes());
}

void peer::note_unsent() noexcept {
  const bool now = unsent();
  if (now != std::exchange(unsent_noted_, now)) owner_.has_unsent(now);
}

/// After a frame that needs a reaction. The thread that makes a pass polls again soon, and the
/// answer may be there by then; if it goes elsewhere instead, it rings first.
void peer::wake_peer() noexcept {
  if (owner_.engine().in_pass())
    owner_.engine().defer_wakeup();
  else
    link_->wake_peer();
}

/// The link has room, or is new, or credit came: control frames first, then messages that have
/// begun, then the next one. That one has its turn even if control frames filled a new link: while
/// no send had it, a later message could go first.
void peer::on_writable() noexcept {
  link_full_ = false;
  if (!link_ || state_ == state::lost) return;
  const bool flushed = flush_controls();
  if (state_ != state::open) return;
  if (flushed) {
    ask_again();
    resume_writers();
  }
  if (!send_order_held_) release_send_order();
}

/// Resumes those who wait for room or credit, once each and in turn, until the link is full again:
/// with thousands of long messages under way, waking all of them for one frame's room would cost
/// more than the frames. A send that is left comes first when the link says that it has room.
void peer::resume_writers() noexcept {
  const waiter* last = write_waiters_.last();
  for (bool more = true; more && !write_waiters_.empty() && !link_full_;) {
    more = write_waiters_.first() != last;
    write_waiters_.resume_first(true);
  }
}

void peer::on_broken(errc why) noexcept {
  std::string_view how = why == errc::protocol_error
                             ? "it sent something that no correct peer sends"
                         : why == errc::unreachable   ? "no connection to it came about"
                         : why == errc::out_of_memory ? "no memory for what it sent"
                                                      : "its connection broke";
  std::string more;
  try {
    if (link_) more = link_->trouble();
  } catch (const std::bad_alloc&) {
    // The code tells most of it.
  }
  if (!more.empty()) how = more;
  fail(why, how);
}

void peer::mark_failed(errc why) noexcept {
  marked_failure_ = why;
  owner_.note_marked_peer();
}

/// For people, who else have the code to go by.
void peer::note(std::string_view detail) noexcept {
  try {
    detail_ = detail;
  } catch (const std::bad_alloc&) {
    // It tells most of it.
  }
}

void peer::fail(errc why, std::string_view detail) noexcept {
  const bool gives_up = !gone() && why != errc::closed;
  lose(why, detail);
  if (gives_up) owner_.given_up(*this);
}

void peer::lose(errc why, std::string_view detail) noexcept {
  if (state_ == state::lost || state_ == state::closed) return;
  const auto self = shared_from_this();
  state_ = why == errc::closed ? state::closed : state::lost;
  why_ = why;
  if (link_) link_->let_go();  // of memory of sends that end here, and the peer may not know it
  note(detail);

  match_table& table = owner_.table();
  for (detail::match_operation *m = table.take_posted(this), *next = nullptr; m; m = next) {
    next = m->after;
    owner_.engine().end(*m, why);
  }
  if (current_ && current_->unexpected()) current_ = nullptr;
  const auto drop = [this, why](inbound_message& m) {
    if (m.receive) owner_.engine().end(m.unmatch(), why);
    release(m);
  };
  asked_.erase_if([&](inbound_message& m) {
    m.id = 0;
    if (&m == current_) current_ = nullptr;
    drop(m);
    return true;
  });
  reads_.erase_if([&](inbound_message& m) {
    m.read_id = 0;
    drop(m);
    return true;
  });
  for (inbound_message *m = std::exchange(to_ask_, nullptr), *next = nullptr; m; m = next) {
    next = m->next_to_ask;
    if (m == current_) current_ = nullptr;
    drop(*m);
  }
  if (current_) drop(*std::exchange(current_, nullptr));
  turns_.resume_all(false);
  write_waiters_.resume_all(false);
  numbers_.resume_all(false);
  replies_.for_each([](rendezvous_send_state& slot) {
    if (slot.kind != frame_kind{} && !slot.putting) return;
    slot.kind = reply_lost;
    slot.putting = false;
    if (slot.waiting) slot.waiting.resume();
  });
  if (rma_) rma_->fail(why);
  controls_.clear();
  note_unsent();
  // What is whole keeps its part of the budget until it is received.
  owner_.return_budget(flow_.end());
  // What is not received and will never be whole goes bit by bit: there may be many of these.
  unexpected_queue::begin_sweep(unexpected);
  if (!sweep(messages_per_pass)) owner_.has_to_sweep(*this);
  for (operation* op : std::exchange(closings, {})) owner_.engine().end(*op);
}

bool peer::sweep(std::size_t most) noexcept {
  for (; most != 0; --most) {
    inbound_message* const m = unexpected_queue::sweep(unexpected);
    if (!m) return true;
    if (m->complete()) continue;  // it can still be received
    owner_.table().remove(*m);
    add_credit_to_return(std::exchange(m->eager_units, 0));
    release(*m);
  }
  return false;
}

// --- access to memory ---------------------------------------------------------------------------

/// Null: there is no memory for it.
rma* peer::rma_state() noexcept {
  if (rma_) return rma_.get();
  try {
    rma_ = std::make_unique<rma>(*this);
  } catch (const std::bad_alloc&) {
    mark_failed();
  }
  return rma_.get();
}

bool peer::start(detail::rma_operation& op) noexcept {
  if (op.order.to.id != id_)
    op.status = owner_.why_gone(op.order.to.id);
  else if (closing_ || gone())
    op.status = why_ == errc::ok ? errc::closed : why_;
  else if (rma* const a = rma_state())
    return a->start(op);
  else
    op.status = errc::out_of_memory;
  return true;
}

void peer::cancel(detail::rma_operation& op) noexcept {
  if (rma_)
    rma_->cancel(op);
  else
    op.cancel_requested = true;
}

bool peer::on_access(frame_kind kind, const frame_header& h, const frame_extension& x,
                     const std::byte* data) noexcept {
  rma* const a = rma_state();
  if (!a) return true;
  switch (kind) {
    case frame_kind::put:
      return a->on_put(h, x, data);
    case frame_kind::get:
      return a->on_get(h, x);
    case frame_kind::update:
      return a->on_update(h, x);
    case frame_kind::got:
      return a->on_got(h, x, data);
    case frame_kind::accessed:
      return h.size == 0 && a->on_accessed(x);
    case frame_kind::granted:
      return h.size == 0 && a->on_granted(x);
    default:
      return h.size == 0 && a->on_released(x);
  }
}

// --- the end ------------------------------------------------------------------------------------

void peer::close() noexcept {
  if (std::exchange(closing_, true) || state_ == state::lost || state_ == state::closed) return;
  note(closed_here);
  if (!say_bye().started) mark_failed();
}

/// The answer to a good-bye says that all that was sent before it has come: nobody needs the
/// connection any more.
bool peer::on_bye(bool answer) noexcept {
  if (answer) {
    if (!std::exchange(bye_left_, false)) return gone();
    fail(errc::closed, closed_here);
    if (owner_.on_parted) owner_.on_parted(*this);
    return true;
  }
  if (gone()) return true;
  // Sends of ours that are under way could not be received any more.
  const bool needs_link = state_ == state::idle;
  const control_queue::entry thanks{header_of(frame_kind::bye, 0, 0, transports::has_extension),
                                    {bye_answer, 0, 0}};
  // First, because to let go of memory may take the link along.
  const bool answered = state_ == state::open && add_control(thanks) && flush_controls();
  fail(errc::closed, closing_ ? closed_here : "the peer closed it");
  if (answered) return true;
  if (!add_control(thanks)) {
    // No memory for it: the end of the connection says as much.
    if (owner_.on_parted) owner_.on_parted(*this);
    return true;
  }
  // It found no room, or a link has to be made for it.
  if (link_)
    flush_controls();
  else if (needs_link)
    owner_.connector(*this);
  return true;
}

}  // namespace weft::proto
