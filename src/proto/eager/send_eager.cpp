// SPDX-License-Identifier: Apache-2.0
// Sending of eager frames. The drawing of the exchange is in receive_eager.cpp; the short path of a
// small message in small_message.cpp.
#include <algorithm>

#include "proto/eager/sender.hpp"
#include "proto/frames/call_wire.hpp"
#include "proto/loans/loan_block.hpp"
#include "proto/select/scheme_costs.hpp"
#include "runtime/trace/probes.hpp"

namespace weft::proto {

using detail::send_mode;
using runtime::trace;
using transports::gather;
using transports::post;

void sender::opened() noexcept {
  const messenger_settings& settings = services_->settings;
  const transports::traits& traits = connection_->link()->traits();
  eager_limit_ = settings.eager_limit_over(traits);
  small_limit_ = std::min(longest_in_one_frame(traits), eager_limit_);
  short_end_ = services_->sends_shortly ? small_limit_ + 1 : 0;
  inlines_ = inlines(settings.eager_data, traits);
  measures_ = traits.measures_payloads && settings.eager_data == rendezvous_eager_data::automatic;
}

bool sender::start(send_operation& op) noexcept {
  runtime::trace& events = services_->engine.trace();
  if (!events.on()) [[likely]]
    return start_now(op);
  const auto& request = op.request;
  events.instant(runtime::trace::kind::posted, connection_->id(), request.data.size());
  const runtime::step sending(events.tree(), "send to",
                              {request.to.id, request.tag.value, request.data.size()});
  return start_now(op);
}

bool sender::start_now(send_operation& op) noexcept {
  const auto& request = op.request;
  if (services_->ending && begins_something(request.tag.value)) [[unlikely]] {
    op.status = errc::closed;
    return true;
  }
  op.size = request.data.size();
  runtime::probe::post(runtime::probe::way::send, connection_->id(), request.tag.value, op.size,
                       &op);
  if (op.cancel_requested || op.size > max_message) {
    op.status = op.cancel_requested ? errc::stopped : errc::invalid_argument;
    return true;
  }
  const bool is_loan = request.mode == send_mode::loan;
  if (is_free() && is_loan && lends(op)) {
    if (lend(static_cast<loan_message&>(op))) return false;
  } else if (is_free() && (is_loan || may_leave_at_once(request.mode))) {
    plan(op);
    const post answer = op.rendezvous ? post::failed : push_eager(op);
    if (answer == post::done) {
      count(op);
      return true;
    }
    if (answer == post::busy) {
      order_.take();
      begin(op, true);
      return false;
    }
  } else if (connection_->closing() || connection_->has_ended()) {
    op.status = connection_->refusal();
    return true;
  } else if (request.mode == send_mode::signal && connection_->is_open()) {
    writer_->send_control(frame_kind::signal, request.tag.value, request.immediate);
    op.begun = true;
    if (connection_->is_open() && writer_->controls().empty()) {
      ++connection_->traffic().messages_sent;
      return true;
    }
  }
  begin(op, false);
  return false;
}

/// Decides how a message goes: whole without a request (eager), or its beginning and, after the
/// receiver's answer, the rest (rendezvous).
/// \return whether there is too little credit for the part that should go at once
bool sender::plan(send_operation& op) noexcept {
  if (lends(op)) {
    op.rendezvous = true;
    op.eager_end = 0;
    return false;
  }
  const std::size_t beginning =
      op.size <= eager_limit_
          ? op.size
          : std::max(longest_beginning(op.size), head_of(op.request.data.parts()));
  const send_plan chosen = plan_send(op.size, eager_limit_, writer_->flow().credit(), beginning);
  op.rendezvous = chosen.rendezvous;
  op.eager_end = chosen.eager_end;
  if (runtime::call_tree* const tree = services_->engine.trace().tree()) [[unlikely]]
    tree->note(op.rendezvous ? "rendezvous; eager data" : "eager", {.bytes = op.eager_end});
  return chosen.starved;
}

/// Of a message above the eager limit.
std::size_t sender::longest_beginning(std::size_t size) const noexcept {
  if (!inlines_ || receiver_gets(size)) return 0;
  if (services_->settings.eager_data == rendezvous_eager_data::yes) return size;
  return connection_->link()->longest_beginning(size);
}

/// Whether the payload of such a message will be read by its receiver, as things have been.
bool sender::receiver_gets(std::size_t size) const noexcept {
  return measures_ && services_->costs.of(connection_->link()->traits().name).receivers_get(size);
}

/// Fills in what the first frame of a message says of the rest.
void sender::fill_first(const send_operation& op, frame_header& h,
                        frame_extension& x) const noexcept {
  h.kind = static_cast<std::uint8_t>(op.rendezvous ? frame_kind::rts : frame_kind::eager);
  x = {op.size, op.id, op.request.immediate};
  if (op.rendezvous) {
    const outbound_message& m = rendezvous_[op.id];
    x.a |= std::uint64_t{op.id} << 48;
    x.b = m.exposed ? m.exposed->before(m.exposed_from).packed() : 0;
    // Headers alone may use up the credit, too: then this is the last one that can say so.
    if (m.starved || writer_->flow().begins_last_message()) h.flags |= starved;
    if (m.exposed && lends(op)) h.flags |= proto::lends;
  }
  if (x.immediate != 0) h.flags |= transports::has_immediate | transports::has_extension;
  if (op.rendezvous || op.id != 0 || h.size != op.size) h.flags |= transports::has_extension;
}

/// Sends the part that goes without a request, from op.sent on.
post sender::push_eager(send_operation& op) noexcept {
  if (!op.begun && writer_->has_unsent() && !writer_->flush()) return post::busy;
  gather data(op.request.data.parts(), op.sent);
  do {
    const transports::traits& traits = connection_->link()->traits();
    const bool announces = !op.begun && is_announced(traits, op.eager_end);
    // Of a list the header is the announcement.
    const std::size_t first = announces ? std::min(head_of(op.request.data.parts()), op.eager_end)
                                        : op.eager_end - op.sent;
    const std::uint32_t n = first == 0 ? 0 : next_piece(traits, op.sent, first);
    frame_header h = header_of(frame_kind::more, op.request.tag.value, n);
    frame_extension x{};
    if (!op.begun) fill_first(op, h, x);
    if (op.sent + n == op.eager_end) h.flags |= eager_ends;
    const post answer = writer_->post(h, transports::extension_of(h, x), data,
                                      announces && n == 0 ? op.eager_end : 0);
    if (answer != post::done) return answer;
    writer_->flow().spend(op.begun ? payload_units(n) : units_of(n));
    op.begun = true;
    op.sent += n;
  } while (op.sent != op.eager_end);
  return post::done;
}

void sender::count(const send_operation& op) noexcept {
  traffic_metrics& n = connection_->traffic();
  runtime::probe::complete(runtime::probe::way::send, connection_->id(), op.request.tag.value,
                           op.size, &op);
  ++n.messages_sent;
  n.bytes_sent += op.size;
  services_->engine.trace().instant(trace::kind::sent, connection_->id(), op.size);
}

}  // namespace weft::proto
