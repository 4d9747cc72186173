// SPDX-License-Identifier: Apache-2.0
// The types of weft that weft.py walks through, as debug information. Nothing links this file: it
// is compiled as the library is, but with `-g2`, so that programs and packages need none of it.
#include <weft/coro/scope.hpp>

#include "api/core/core.hpp"
#include "proto/calls/call_table.hpp"
#include "proto/frames/outbound_message.hpp"
#include "proto/rma/rma.hpp"

namespace weft::gdb {

/// All that the script asks for by name. Members, since compilers describe only in outline what
/// there are no more than pointers to.
union types {
  types();
  ~types();

  detail::core lane;
  proto::peer peer;
  proto::calls_of_peer calls;  // and with them detail::call_operation
  proto::rma accesses;         // and with them detail::rma_operation
  proto::send_order::acquirer waiting_send;
  recv_operation receive;
  probe_operation probe;
  send_operation send;
  weft::scope scope;
  proto::inbound_message inbound;
  proto::outbound_message outbound;
};

// A parameter alone would be described in outline, too.
const detail::core& lane_of(const types& all);
const detail::core& lane_of(const types& all) { return all.lane; }

}  // namespace weft::gdb
