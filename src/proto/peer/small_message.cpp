// SPDX-License-Identifier: Apache-2.0
// The short path of a small message, in both directions: nothing has to wait, and nothing is
// stored. Written for the number of instructions: most messages take this path.
#include <cstring>

#include <weft/operations/batches.hpp>

#include "proto/eager/accept_whole.hpp"
#include "proto/match/match.hpp"
#include "proto/peer/peer.hpp"
#include "proto/peer/peer_registry.hpp"
#include "proto/peer/protocol_tables.hpp"
#include "proto/select/select.hpp"
#include "runtime/os/small_copy.hpp"
#include "runtime/trace/probes.hpp"

namespace weft::proto {

using detail::match_operation;
using detail::send_mode;
using transports::post;
namespace probe = runtime::probe;

namespace {

// Enough for any message of one frame.
constexpr std::int64_t most_units_of_small = units_of(one_frame) + credit_reserve;

[[gnu::noinline]] post post_immediate(transports::link& to, frame_header h, std::uint64_t immediate,
                                      const std::byte* data) noexcept {
  h.flags |= transports::has_extension | transports::has_immediate;
  const frame_extension x{h.size, 0, immediate};
  return to.send_contiguous(h, &x, data);
}

}  // namespace

/// Part of its callers, because a call costs a tenth of it.
[[gnu::always_inline]] inline bool peer::send_small(peer_id to, std::uint64_t tag,
                                                    const_buffer data, std::uint64_t immediate,
                                                    std::size_t end) noexcept {
  flow_control& flow = writer_.flow();
  if (to != id() || data.size() >= end || now() != state::open || sender_.order().held() ||
      writer_.has_unsent() || flow.credit() < most_units_of_small) [[unlikely]]
    return false;
  const std::uint16_t returned = flow.for_next_frame();
  const frame_header h{tag, static_cast<std::uint32_t>(data.size()),
                       static_cast<std::uint8_t>(frame_kind::eager), eager_ends, returned};
  const post how = immediate == 0 ? connection_.link()->send_contiguous(h, nullptr, data.data())
                                  : post_immediate(*connection_.link(), h, immediate, data.data());
  if (how != post::done) [[unlikely]]
    return false;
  if (returned != 0) flow.returned(returned);
  flow.spend(units_of(data.size()));
  ++connection_.traffic().messages_sent;
  connection_.traffic().bytes_sent += data.size();
  probe::post(probe::way::send, id(), tag, data.size(), nullptr);
  return true;
}

/// A signal that no control frame is before: without credit, also ahead of messages that wait.
inline bool peer::send_signal(peer_id to, std::uint64_t tag, std::uint64_t immediate) noexcept {
  if (to != id() || now() != state::open || connection_.closing() || !writer_.controls().empty() ||
      !services_.sends_shortly) [[unlikely]]
    return false;
  const std::uint16_t returned = writer_.flow().for_next_frame();
  const frame_header h{0, 0, static_cast<std::uint8_t>(frame_kind::signal),
                       transports::has_extension, returned};
  const frame_extension x{tag, immediate, 0};
  if (connection_.link()->send_contiguous(h, &x, nullptr) != post::done) [[unlikely]]
    return false;
  if (returned != 0) writer_.flow().returned(returned);
  ++connection_.traffic().messages_sent;
  return true;
}

bool peer::try_send_inline(peer_id to, std::uint64_t tag, const_buffer data,
                           std::uint64_t immediate) noexcept {
  return send_small(to, tag, data, immediate, sender_.short_end());
}

bool peer::start(send_operation& op) noexcept {
  const auto& request = op.request;
  if (request.data.single() && may_leave_at_once(request.mode) && !op.cancel_requested &&
      send_small(request.to.id, request.tag.value, request.data.front(), request.immediate,
                 sender_.short_end())) [[likely]]
    return true;
  if (request.mode == send_mode::signal && !op.cancel_requested &&
      send_signal(request.to.id, request.tag.value, request.immediate))
    return true;
  if (request.to.id != id()) {
    op.status = tables_.peers.why_ended(request.to.id);
    return true;
  }
  return sender_.start(op);
}

/// Takes a whole message whose receive waits, has room for it in one piece, and is completed by the
/// thread inside run(), on no other executor. All others are dispatched.
template <class Copy>
[[gnu::always_inline]] inline bool peer::take_posted(const frame_header& h,
                                                     const frame_extension* x,
                                                     const std::byte* data, Copy copy) noexcept {
  const std::uint32_t size = h.size;
  match_operation* const m =
      matcher_.take_match_if(this, h.tag, [size](const match_operation& found) {
        return (found.special & ~match_operation::takes_more) == 0 &&
               size <= static_cast<const recv_operation&>(found).into.front().size();
      });
  if (!m) [[unlikely]]
    return dispatch(h, x, data);
  auto& op = static_cast<recv_operation&>(*m);
  accept_whole(op, {id(), {h.tag}, size, x ? x->immediate : 0}, connection_.traffic(),
               writer_.flow());
  copy(op.into.front().data(), data, size);
  probe::match(op.got.source, op.got.tag.value, op.got.size, &op);
  probe::complete(probe::way::receive, op.got.source, op.got.tag.value, op.got.size, &op);
  if (op.stays()) [[unlikely]]
    static_cast<recv_many_operation&>(op).advance();
  else
    engine_.end_at_home(op);
  return !writer_.flow().must_return() && h.credit == 0 ? true : writer_.settle(h.credit);
}

/// For most frames, short messages, this path calls no function, which spares the saving of
/// registers: a third of the time of a message.
bool peer::on_frame(const frame_header& h, const frame_extension* x,
                    const std::byte* data) noexcept {
  if (!is_whole(h, x) || has_ended() || receiver_.is_amid_message() ||
      units_of(h.size) > writer_.flow().usable()) [[unlikely]]
    return dispatch(h, x, data);
  return h.size <= 64 ? take_posted(h, x, data, runtime::small_copy) : take_long(h, x, data);
}

[[gnu::noinline]] bool peer::take_long(const frame_header& h, const frame_extension* x,
                                       const std::byte* data) noexcept {
  return take_posted(h, x, data, std::memcpy);
}

}  // namespace weft::proto

/// Only for the leader: others take the progress lock by locked instructions, and start an
/// operation.
bool weft::detail::try_send_small(proto::peer* to, peer_id id, std::uint64_t tag, const_buffer data,
                                  std::uint64_t immediate) noexcept {
  if (!to) [[unlikely]]
    return false;
  if (!to->engine().try_enter_leading()) return false;
  const bool sent = to->send_small(id, tag, data, immediate, to->sender_.short_end());
  to->engine().leave_leading();
  return sent;
}

bool weft::detail::try_send_signal(proto::peer* to, peer_id id, std::uint64_t tag,
                                   std::uint64_t immediate) noexcept {
  if (!to || !to->engine().try_enter_leading()) return false;
  const bool sent = to->send_signal(id, tag, immediate);
  to->engine().leave_leading();
  return sent;
}

/// Most receives are posted by the leader, before their message comes, to a living peer.
bool weft::recv_operation::start() noexcept {
  if (!from || !from->services().posts_shortly) [[unlikely]]
    return start_locked();
  const proto::protocol_services& services = from->services();
  runtime::engine& engine = services.engine;
  if (!engine.try_enter_leading()) [[unlikely]]
    return start_locked();
  if (from->id() != from_id || from->has_ended() || cancel_requested || on ||
      !services.matcher.none_arrived()) [[unlikely]] {
    engine.leave_leading();
    return start_locked();
  }
  services.matcher.post(*this);
  engine.pending_at_home();
  if (!engine.expects_pending_at_home()) [[unlikely]]
    return engine.leave_computing();
  engine.leave_leading();
  return false;
}

std::size_t weft::detail::try_send_several(proto::peer* to, peer_id id, std::uint64_t tag,
                                           std::span<const const_buffer> messages) noexcept {
  if (!to || !to->engine().try_enter_leading()) return 0;
  std::size_t sent = 0;
  while (sent != messages.size() &&
         to->send_small(id, tag, messages[sent], 0, to->sender_.short_end()))
    ++sent;
  to->engine().leave_leading();
  return sent;
}
