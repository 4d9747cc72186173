// SPDX-License-Identifier: Apache-2.0
// What a context waits for, for people and programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/coro/detail/timer.hpp>
#include <weft/message.hpp>

namespace weft::proto {

class messenger;

/// What was pending at a former time: operations have no time of their own, because a clock would
/// be read for each. Receives are numbered in the order of posting.
struct pending_history {
  std::uint64_t posted = 0;   ///< so many receives had been posted
  detail::time_point when{};  ///< at this time
};

/// An operation, a message that no receive has met, or a connection.
struct pending_line {
  const char* kind = "";                  ///< a literal: "receive", "send", "access", ...
  peer_id peer = no_peer;                 ///< no_peer: any
  std::optional<std::uint64_t> tag = {};  ///< nothing: it has none, or weft's own
  std::optional<std::uint64_t> bytes = {};
  std::string text = {};  ///< all of it, for people
};

/// The lines of one kind.
struct pending_lines {
  std::vector<pending_line> lines;
  std::size_t left_out = 0;  ///< more than were asked for
};

struct pending_report {
  pending_lines operations;  ///< of messages, accesses and calls
  pending_lines messages;    ///< that no receive has met
  pending_lines connections;
  std::uint64_t others = 0;  ///< pending operations of other kinds
  std::uint32_t served = 0;  ///< calls of peers
};

/// Progress lock held.
/// \param most of each kind
/// \param before of the former call; gets the present state. Of a receive that was posted before,
///   its line says how long ago that was at least
/// \throws std::bad_alloc
pending_report look_at_pending(messenger& m, std::size_t most, pending_history& before);

/// The report as lines of text, in the order of its members. \throws std::bad_alloc
std::vector<std::string> texts_of(const pending_report& all);

}  // namespace weft::proto
