// SPDX-License-Identifier: Apache-2.0
// A whole message that has met its receive.
#pragma once

#include <weft/metrics.hpp>
#include <weft/operations/messages.hpp>

#include "proto/connection/flow_control.hpp"

namespace weft::proto {

/// A whole message has met its receive, which has room for it, by whichever path: the short one of
/// small_message.cpp, or receiver::take_whole. The caller copies the payload next (before, the
/// compiler would read the frame twice), ends the receive, and calls frame_writer::settle. Progress
/// lock held only.
inline void accept_whole(recv_operation& op, const received& what, traffic_metrics& counts,
                         flow_control& flow) noexcept {
  op.got = what;
  ++counts.messages_received;
  counts.bytes_received += what.size;
  flow.pass(units_of(what.size));
}

}  // namespace weft::proto
