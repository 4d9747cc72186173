// SPDX-License-Identifier: Apache-2.0
// The wire-up messages by which two contexts open and give up links. docs/wire-format.md,
// "Wire-up messages".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <weft/error.hpp>
#include <weft/transport/wireup_message.hpp>

#include "proto/select/select.hpp"

namespace weft::connections {

/// wireup_message::kind.
enum class link_message_kind : std::uint8_t { offer = 1, answer, refusal, note, given_up };

/// How link messages name a transport of a list: by its index, and by a mark of its name, so that
/// sides notice that their lists differ. Places of one list are in its order.
std::uint16_t place_in(std::span<const std::string> list, std::size_t index) noexcept;

/// In front of a transport's own bytes in each message but `given_up`.
struct link_message_header {
  std::uint16_t place = 0;   // of the transport, as place_in says
  std::uint8_t number = 0;   // which of its links to that peer
  std::uint8_t further = 0;  // how many links there are besides one
  std::uint32_t credit = 0;  // in an answer: units that the peer may send
};
static_assert(sizeof(link_message_header) == 8);
static_assert(proto::most_links <= 256);

/// \throws std::bad_alloc
transports::wireup_message pack(link_message_kind kind, link_message_header header,
                                transports::wireup_message body);
/// Takes the header off. \return false: the message is too short
bool unpack(transports::wireup_message& m, link_message_header& header);

/// The message `given_up`: this side has given the peer up. \param detail for people; shortened if
/// it is long \throws std::bad_alloc
transports::wireup_message pack_reason(errc why, std::string_view detail);
/// \return what the peer says in its message `given_up`, made printable, for people
std::string reason_text(const transports::wireup_message& m);

}  // namespace weft::connections
