// SPDX-License-Identifier: Apache-2.0
// A message that waits for an answer of its receiver.
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>

#include <weft/operations/messages.hpp>

#include "proto/frames/frames.hpp"

namespace weft::proto {

/// The sender's side of one message that waits for an answer. Lives in the frame of its coroutine;
/// that of a loan, which needs none, in the loan's block.
struct outbound_message {
  send_operation* op;
  std::coroutine_handle<> waiting = {};  ///< for the answer, or for the link's copy
  frame_kind answer{};                   ///< zero until it has come
  frame_extension extension{};           ///< of the answer
  bool stop_data = false;  ///< the receiver, having requested the rest, wants no more of it

  bool starved = false;  ///< with more credit more bytes would have gone at once
  std::optional<remote_address> exposed = {};  ///< where the receiver can read the message
  std::uint64_t exposed_from = 0;              ///< or what is behind its first bytes
  bool putting = false;                        ///< the link is writing the rest
  bool written = false;                        ///< result of that write
  bool told = false;  ///< the receiver has been told of the write, or will be, behind it
  bool lent = false;  ///< of a loan: no coroutine waits for the answer

  /// The receiver's number of the message, after a cts.
  std::uint64_t receiver_id() const noexcept { return extension.b; }
};

}  // namespace weft::proto
