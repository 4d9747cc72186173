// SPDX-License-Identifier: Apache-2.0
#include "collectives/together.hpp"

#include <fmt/format.h>

#include "proto/message_errors.hpp"
#include "proto/peer.hpp"

namespace weft::collectives {

void check_size(std::size_t came, std::size_t expected, peer_id from) {
  if (came == expected) return;
  throw error(errc::protocol_error,
              fmt::format("{} bytes came from {} in a collective that expects {}: all members "
                          "have to pass parts of the same size",
                          came, proto::name_of(from), expected));
}

void check_size(const detail::recv_operation& op) {
  if (op.got.size != op.into.size()) [[unlikely]]
    check_size(op.got.size, op.into.size(), op.got.source);
}

}  // namespace weft::collectives
