// SPDX-License-Identifier: Apache-2.0
// A call that the application serves in C: open from the call of its handler to its answer.
#pragma once

#include <optional>
#include <set>
#include <string>

#include <weft/call.hpp>
#include <weft/coro/detail/scheduled_continuation.hpp>

struct weft_context;
struct weft_op;

namespace weft::c {
/// How the send of a reply has ended.
struct reply_end {
  detail::one_shot_event came;
  std::optional<error> failure;
};
}  // namespace weft::c

/// Lives in the frame of the handler's coroutine, which waits for `answered`. The application gives
/// one answer; the coroutine sends it.
struct weft_served_call {
  weft_served_call(weft_context& of, weft::call c) noexcept : owner(&of), what(c) {}

  weft_context* owner;
  weft::call what;
  weft::const_buffer reply;
  std::string refusal;
  bool refused = false;
  weft::detail::one_shot_event answered;
  weft::c::reply_end* then = nullptr;  ///< of the answering operation
};

namespace weft::c {
using served_calls = std::set<weft_served_call*>;  // that have no answer yet
}
