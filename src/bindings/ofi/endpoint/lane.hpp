// SPDX-License-Identifier: Apache-2.0
// What endpoints use of one lane of a context.
#pragma once

#include <weft/external_loop.hpp>

#include "bindings/ofi/endpoint/peer_table.hpp"

namespace weft::ofi {

/// A lane with the peers that were met from it, and the loop that moves it. An endpoint has one of
/// its own; of a scalable endpoint, the transmit and the receive context of the same number share
/// one. Any thread.
struct lane {
  lane(weft::context& of, const address_vector& names) : context(of), peers(of, names), loop(of) {}

  weft::context& context;
  peer_table peers;
  external_loop loop;
};

}  // namespace weft::ofi
