// SPDX-License-Identifier: Apache-2.0
// Begins and ends a peer's connection, for all of its parts, and makes the object another peer.
//
//   this side closes                        PEER
//   close: say_bye, after the sends
//   that have begun: bye (good_bye) ------> on_good_bye: its connection is closed
//                    <--------------------- bye (bye_answer), behind all that it had sent, and its
//                                           answers to what it has received
//   on_bye_answer: closed
#include <algorithm>
#include <utility>
#include <vector>

#include "proto/calls/call_table.hpp"
#include "proto/frames/connector.hpp"
#include "proto/groups/group_table.hpp"
#include "proto/peer/peer.hpp"
#include "proto/peer/peer_upkeep.hpp"
#include "proto/peer/protocol_tables.hpp"
#include "proto/rma/rma.hpp"
#include "proto/select/select.hpp"

namespace weft::proto {

void peer::opened(std::unique_ptr<transports::link> link, std::uint32_t credit) {
  if (!writer_.takes_link()) return;
  const runtime::step connecting(engine_.trace().tree(), "link to", {.peer = id()});
  connection_.opened(std::move(link));
  if (now() == state::closed) {  // to answer the peer's good-bye
    writer_.flush();
    return;
  }
  sender_.opened();
  writer_.flow().set_credit(credit);
  on_writable();
  tables_.groups.on_opened(*this);
}

void peer::on_descriptor(unique_fd file, std::uint32_t what) noexcept {
  tables_.groups.on_descriptor(id(), what, std::move(file));
}

void peer::connect() noexcept { tables_.connections->connect(*this); }

std::string peer::describe() const {
  const runtime::engine::holder hold(engine_);
  return tables_.connections ? tables_.connections->describe(*this) : std::string();
}

void peer::on_broken(errc why) noexcept {
  std::string_view how = why == errc::protocol_error
                             ? "it sent something that no correct peer sends"
                         : why == errc::unreachable   ? "no connection to it came about"
                         : why == errc::out_of_memory ? "no memory for what it sent"
                                                      : "its connection broke";
  std::string more;
  try {
    if (connection_.link()) more = connection_.link()->trouble();
  } catch (const std::bad_alloc&) {
    // No memory: the code tells most of it.
  }
  if (!more.empty()) how = more;
  give_up(why, how);
}

void peer::give_up(errc why, std::string_view detail) noexcept {
  const bool is_news = !has_ended() && why != errc::closed;
  end({why, detail});
  if (is_news) tables_.upkeep.given_up(*this);
}

void peer::end(ended how) noexcept {
  if (has_ended()) return;
  const auto alive = shared_from_this();
  const errc why = how.why;
  connection_.end(std::move(how));
  receiver_.fail(why);
  sender_.fail();
  if (rma_) {
    rma_->initiator.fail(why);
    rma_->target.fail();
  }
  writer_.end();
  tables_.calls.fail(*this);
  // Complete messages keep their part of the budget until they are received. Messages that will
  // never be complete are released in slices: there may be many.
  unexpected_queue::begin_sweep(unexpected);
  if (!receiver_.sweep(messages_per_pass)) tables_.upkeep.add_to_sweep(*this);
  for (operation* op : std::exchange(closings, {})) engine_.end(*op);
  tables_.groups.on_ended(*this);
}

detail::time_point peer::oldest_stop() const noexcept {
  if (has_ended()) return detail::time_point::max();
  const auto oldest = std::min(sender_.oldest_stop(), receiver_.oldest_stop());
  return rma_ ? std::min({oldest, rma_->initiator.oldest_stop(), rma_->target.oldest_end()})
              : oldest;
}

void peer::close() noexcept {
  if (connection_.begin_closing() && !say_bye().started) connection_.mark_failed();
}

protocol_coroutine peer::say_bye() noexcept {
  const auto alive = shared_from_this();
  if (!co_await sender_.order().acquire(nullptr)) co_return;
  // The turn is kept: no other send begins any more.
  writer_.send_control(frame_kind::bye, good_bye);
}

bool peer::on_bye(const frame_extension* x) noexcept {
  return x && x->a == bye_answer ? on_bye_answer() : on_good_bye();
}

/// All that was sent before the good-bye has arrived: no side needs the connection any more.
bool peer::on_bye_answer() noexcept {
  if (!writer_.take_bye_answer()) return has_ended();
  end({errc::closed, closed_by_this_side});
  tables_.connections->disconnected(*this);
  return true;
}

bool peer::on_good_bye() noexcept {
  if (has_ended()) return true;
  // Sends of this side that are under way could not be received any more.
  const bool needs_link = now() == state::idle;
  const control_queue::entry thanks{header_of(frame_kind::bye, 0, 0, transports::has_extension),
                                    {bye_answer, 0, 0}};
  // First, because letting go of memory may take the link along.
  const bool answered = now() == state::open && writer_.add_last(thanks) && writer_.flush();
  std::vector<control_queue::entry> deeds;
  if (!answered) deeds = writer_.controls().deeds();
  end({errc::closed, connection_.closing() ? closed_by_this_side : "the peer closed it"});
  if (answered) return true;
  const bool kept = std::all_of(deeds.begin(), deeds.end(),
                                [this](const auto& e) { return writer_.add_last(e); });
  if (!kept || !writer_.add_last(thanks)) {
    // No memory for it: the end of the connection tells the peer.
    tables_.connections->disconnected(*this);
    return true;
  }
  // It found no space, or a link has to be made for it.
  if (connection_.link())
    writer_.flush();
  else if (needs_link)
    connect();
  return true;
}

bool peer::owes() const noexcept {
  return writer_.owes() ||
         (!has_ended() && (sender_.any_under_way() || (rma_ && rma_->initiator.any_under_way())));
}

void peer::drop_link() noexcept {
  connection_.drop_link();
  writer_.note_unsent();
}

void peer::shrink() noexcept {
  receiver_ = proto::receiver(services_, tables_.calls, tables_.groups, *this, writer_,
                              rendezvous_receiver_, connection_);
  rendezvous_receiver_ = rendezvous_receiver(services_, receiver_, writer_, connection_);
  sender_ = proto::sender(services_, writer_, connection_);
  rma_.reset();
  calls.reset();
  closings = {};
}

void peer::recycle_as(peer_id id) {
  met_at.clear();
  writer_ = frame_writer(services_, connection_);
  shrink();
  connection_ = peer_connection(*this, services_.upkeep, id);
}

}  // namespace weft::proto
