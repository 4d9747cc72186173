// SPDX-License-Identifier: Apache-2.0
#include "proto/messenger/message_errors.hpp"

#include <fmt/format.h>

#include "proto/frames/peer_number.hpp"
#include "proto/peer/peer_registry.hpp"
#include "proto/peer/protocol_tables.hpp"

namespace weft::proto {

namespace {
std::string detail_of(detail::peer_name gone) {
  const runtime::engine::holder hold(gone.peer->engine());
  if (gone.peer->id() == gone.id) {
    const std::string& met_at = gone.peer->met_at;
    const std::string& how = gone.peer->detail();
    return met_at.empty() || how.empty() ? how : fmt::format("{} (peer: {})", how, met_at);
  }
  return make_error_code(gone.peer->tables().peers.why_ended(gone.id)).message();
}
}  // namespace

const char* explain_no_peer(std::uint64_t tag) noexcept {
  return tag < first_reserved_tag
             ? "this endpoint names no peer; endpoints come from a context, a group or a listener"
             : "tags with the top byte 0xfe or 0xff are weft's own; take another one. Those of "
               "group::own_tag are used with one peer, and without a mask";
}

tag_mask checked(tag_mask t, bool one_peer) {
  if (t.value >= first_reserved_tag && !(one_peer && detail::is_group_tag(t)))
    throw error(errc::invalid_argument, explain_no_peer(t.value));
  return t;
}

std::string name_of(peer_id number) {
  if (number == no_peer) return "no peer";
  if (number >= first_non_rank) return fmt::format("connected peer {}", number - first_non_rank);
  const peer_place where = place_of(number, 0);
  return number < most_ranks ? fmt::format("rank {}", number)
                             : fmt::format("rank {}, lane {}", where.rank, where.lane);
}

namespace {

/// \param doing "send to", "receive from" \param with null: any peer
std::string in_words(const char* doing, detail::peer_name with, tag_mask t) {
  const std::string who = with.peer ? name_of(with.id) : std::string("any peer");
  if (detail::is_group_tag(t)) return fmt::format("{} {}, a tag of a group", doing, who);
  if (t.value >= first_reserved_tag) return fmt::format("{} {}", doing, who);
  if (t.exact()) return fmt::format("{} {}, tag {}", doing, who, t.value);
  if (t.mask == 0) return fmt::format("{} {}, any tag", doing, who);
  return fmt::format("{} {}, tag {:#x} in the bits {:#x}", doing, who, t.value, t.mask);
}

const char* words_for(detail::rma_kind k) noexcept {
  switch (k) {
    case detail::rma_kind::put:
      return "put to";
    case detail::rma_kind::get:
      return "get from";
    case detail::rma_kind::fetch_add:
      return "fetch_add at";
    case detail::rma_kind::compare_swap:
      return "compare_swap at";
  }
  return "";
}

}  // namespace

std::string describe(const send_operation& op) {
  return in_words("send to", op.request.to, op.request.tag);
}

std::string describe(const detail::match_operation& op) {
  return in_words(op.probe() ? "probe of" : "receive from", {op.from, op.from_id}, op.tag);
}

std::string describe(const detail::rma_operation& op) {
  return fmt::format("{} {}", words_for(op.order.kind), name_of(op.order.to.id));
}

std::string describe(const detail::call_operation& op) {
  return fmt::format("handler {} at {}", op.handler().number, name_of(op.to().id));
}

std::string describe(const inbound_message& m) {
  return in_words("message from", {m.from, m.from->id()}, weft::tag{m.tag});
}

bool has_ended_so(detail::peer_name with, errc status) {
  const runtime::engine::holder hold(with.peer->engine());
  const bool same = with.peer->id() == with.id;
  return (same ? with.peer->why() : with.peer->tables().peers.why_ended(with.id)) == status;
}

std::string explain(const std::string& what, errc status, detail::peer_name with,
                    const received* got, std::size_t room) {
  switch (status) {
    case errc::truncated:
      return fmt::format(
          "{}: a message of {} bytes from {} did not fit into {}; receive into more, "
          "or probe first",
          what, got->size, name_of(got->source), room);
    case errc::stopped:
      if (got && got->source != no_peer)
        return fmt::format(
            "{}: stopped on request while a message of {} bytes from {} arrived, which is lost",
            what, got->size, name_of(got->source));
      return what + ": stopped on request";
    case errc::invalid_argument:
      if (with.peer && has_ended_so(with, status)) break;
      return fmt::format("{}: a message can have at most {} bytes", what, max_message);
    default:
      break;
  }
  std::string detail;
  if (with.peer)
    detail = detail_of(with);
  else if (status == errc::closed)
    detail = context_ended;
  if (detail.empty()) detail = sentence_of(status);  // there was no memory to keep it
  return fmt::format("{}: {}", what, detail);
}

}  // namespace weft::proto
