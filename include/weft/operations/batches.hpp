// SPDX-License-Identifier: Apache-2.0
// What endpoint::send_many and recv_many return, and the operations that are made of it, with the
// functions that weft/operations/messages.hpp tells of. The lists, their buffers and `got` live
// until the end.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <weft/operations/messages.hpp>

namespace weft {

class send_many_operation;
class recv_many_operation;

/// What `endpoint::send_many` returns.
struct [[nodiscard]] send_many_request {
  using value_type = void;
  using operation_type = send_many_operation;
  detail::peer_name to;
  weft::tag tag;
  std::span<const const_buffer> messages;
};

/// What `endpoint::recv_many` returns.
struct [[nodiscard]] recv_many_request {
  using value_type = void;
  using operation_type = recv_many_operation;
  detail::peer_name from;
  tag_mask tag;
  std::span<const mutable_buffer> into;
  std::span<received> got;
};

/// Sends one message after the other. Small ones leave within start(), in a burst under one
/// progress lock; the operation is in flight for one of the others at a time, and goes on with the
/// next one on the thread that completes it.
class send_many_operation : public send_operation {
 public:
  send_many_operation(const send_many_request& r, complete_fn f) noexcept
      : send_operation({r.to, r.tag, const_buffer{}}, &one_ended), left_(r.messages), ended_(f) {}
  bool start() noexcept;
  void take() const noexcept {}
  std::string explain() const;

 private:
  static void one_ended(operation& op) noexcept;
  bool start_next() noexcept;

  std::span<const const_buffer> left_;  // the first one is in flight
  std::size_t sent_messages_ = 0;
  const complete_fn ended_;
};

/// Receives one message after the other, as one receive that stays in the matching queue until it
/// has taken all but the last small message; a message of several frames is received by itself, and
/// the thread that completes it posts the receive again.
class recv_many_operation : public recv_operation {
 public:
  recv_many_operation(const recv_many_request& r, complete_fn f) noexcept
      : recv_operation({nullptr, r.from, r.tag, first_of(r)}, &one_ended),
        into_(r.into),
        got_(r.got),
        ended_(f) {
    if (r.into.size() > 1) special |= takes_more;
  }
  bool start() noexcept;
  void take() const noexcept {}
  std::string explain() const;

  /// A message has been received, and is not the last one: the next one has its turn. While it is
  /// queued, with the progress lock held; else the thread that starts or completes it.
  void advance() noexcept {
    note();
    ++received_;
    into = into_[received_];
    if (received_ + 1 == into_.size()) special &= static_cast<std::uint8_t>(~takes_more);
  }

 private:
  static mutable_buffer first_of(const recv_many_request& r) noexcept {
    return r.into.empty() ? mutable_buffer{} : r.into.front();
  }
  static void one_ended(operation& op) noexcept;
  bool goes_on() noexcept;
  void note() noexcept {
    if (received_ < got_.size()) got_[received_] = got;
  }

  const std::span<const mutable_buffer> into_;
  const std::span<received> got_;
  std::size_t received_ = 0;  // messages before the one that is awaited
  const complete_fn ended_;
};

}  // namespace weft
