// SPDX-License-Identifier: Apache-2.0
#include "proto/message_errors.hpp"

#include <fmt/format.h>

#include "proto/messenger.hpp"

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

std::string explain(errc status, detail::peer_name with, const received* got, std::size_t room) {
  const std::string who = with.peer ? fmt::format("peer {}", with.id) : std::string("any peer");
  switch (status) {
    case errc::truncated:
      return fmt::format(
          "a message of {} bytes from peer {} did not fit into {}; receive into more, "
          "or probe first",
          got->size, got->source, room);
    case errc::stopped:
      if (got && got->source != no_peer)
        return fmt::format(
            "stopped on request while a message of {} bytes from peer {} arrived, which is lost",
            got->size, got->source);
      return fmt::format("stopped on request, with {}", who);
    case errc::invalid_argument:
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
