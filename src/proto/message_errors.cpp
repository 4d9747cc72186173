// SPDX-License-Identifier: Apache-2.0
#include "proto/message_errors.hpp"

#include <fmt/format.h>

#include "proto/messenger.hpp"
#include "proto/peer_number.hpp"

namespace weft::proto {

namespace {
std::string detail_of(detail::peer_name gone) {
  const messenger& owner = gone.peer->owner();
  const runtime::engine::holder hold(owner.engine());
  if (gone.peer->id() == gone.id) return gone.peer->detail();
  return make_error_code(owner.peers().why_gone(gone.id)).message();
}
}  // namespace

const char* explain_no_peer(std::uint64_t tag) noexcept {
  return tag < first_reserved_tag
             ? "this endpoint names nobody; they come from a context, a group or a listener"
             : "tags with the top byte 0xfe or 0xff are weft's own; take another one";
}

tag_mask checked(tag_mask t) {
  if (t.value >= first_reserved_tag) throw error(errc::invalid_argument, explain_no_peer(t.value));
  return t;
}

std::string name_of(peer_id number) {
  const peer_place where = place_of(number, 0);
  return number < most_ranks || !names_rank(number)
             ? fmt::format("peer {}", number)
             : fmt::format("peer {}, lane {}", where.rank, where.lane);
}

bool has_ended_so(detail::peer_name with, errc status) {
  const messenger& owner = with.peer->owner();
  const runtime::engine::holder hold(owner.engine());
  const bool same = with.peer->id() == with.id;
  return (same ? with.peer->why() : owner.peers().why_gone(with.id)) == status;
}

std::string explain(errc status, detail::peer_name with, const received* got, std::size_t room) {
  const std::string who = with.peer ? name_of(with.id) : std::string("any peer");
  switch (status) {
    case errc::truncated:
      return fmt::format(
          "a message of {} bytes from {} did not fit into {}; receive into more, "
          "or probe first",
          got->size, name_of(got->source), room);
    case errc::stopped:
      if (got && got->source != no_peer)
        return fmt::format(
            "stopped on request while a message of {} bytes from {} arrived, which is lost",
            got->size, name_of(got->source));
      return fmt::format("stopped on request, with {}", who);
    case errc::invalid_argument:
      if (with.peer && has_ended_so(with, status)) break;
      return fmt::format("a message can have at most {} bytes", max_message);
    default:
      break;
  }
  if (!with.peer) return status == errc::closed ? context_ended : who;
  std::string detail = detail_of(with);
  if (detail.empty()) detail = make_error_code(status).message();  // there was no memory to keep it
  return fmt::format("{}: {}", who, detail);
}

}  // namespace weft::proto
