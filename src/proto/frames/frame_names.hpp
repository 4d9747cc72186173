// SPDX-License-Identifier: Apache-2.0
// Frames and operations in the call tree.
#pragma once

#include <weft/operations/messages.hpp>

#include "proto/frames/frames.hpp"
#include "runtime/trace/call_tree.hpp"

namespace weft::proto {

/// Peer, kind, tag and bytes of a frame. An eager frame or an `rts` tells of its message.
runtime::call_tree::subject subject_of(peer_id peer, const frame_header& h,
                                       const frame_extension* x) noexcept;

/// The same of a receive or a probe.
runtime::call_tree::subject subject_of(const detail::match_operation& op) noexcept;

}  // namespace weft::proto
