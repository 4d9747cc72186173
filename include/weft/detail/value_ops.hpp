// SPDX-License-Identifier: Apache-2.0
// Receives that make the memory for their message. Applications do not name these types.
#pragma once

#include <cstddef>
#include <string>

#include <weft/error.hpp>
#include <weft/operations/messages.hpp>

namespace weft::detail {

/// The elements that a sized receive fills: a vector or a string.
struct sized_target {
  /// Gives the container `count` elements, and sets `bytes` to them. \return false: no memory
  using resize_fn = bool (*)(void* container, std::size_t count, mutable_buffer& bytes) noexcept;

  void* container;
  resize_fn resize;
  std::size_t element;  ///< bytes of one
  at_most limit;
  mutable_buffer now = {};  ///< the elements that it has; a message that fits there needs no resize
};

/// A receive that makes its memory when it knows its message, so that a large message goes straight
/// there while the application computes, and no other receive comes between.
class sized_recv_operation : public recv_operation {
 public:
  sized_recv_operation(const recv_request& r, const sized_target& to, complete_fn f) noexcept
      : recv_operation({r.messenger, r.from, r.tag, to.now}, &message_ended), to_(to), ended_(f) {
    sized = true;
  }
  bool start() noexcept;
  std::string explain() const;

  /// Why the receive does not want a message of `size` bytes; ok: it does.
  errc refusal(std::size_t size) const noexcept;
  /// A message of `size` bytes has matched; the progress lock is held. Sets `into`, or tells why
  /// the receive does not want the message.
  errc make_room(std::size_t size) noexcept;

 private:
  static void message_ended(operation& op) noexcept;
  void settle() noexcept;

  const sized_target to_;
  const complete_fn ended_;
};

/// Called once for each receive that meets its message, except for a message of one frame that fits
/// into the memory there is. \return ok, or why the message is not wanted
inline errc make_room(recv_operation& op, std::size_t size) noexcept {
  if (!op.sized) [[likely]]
    return errc::ok;
  return static_cast<sized_recv_operation&>(op).make_room(size);
}

}  // namespace weft::detail
