// SPDX-License-Identifier: Apache-2.0
// claimed_message: a message that a matched probe took out of the queue (MPI_Mprobe).
#pragma once

#include <utility>

#include <weft/operations/messages.hpp>

namespace weft {

/// A message that `try_claim` took out of matching: no other receive or probe finds the message.
/// The message is received once or discarded; for its sender, both count as received. Move-only;
/// must not outlive the context. Used by one thread at a time.
class claimed_message {
 public:
  claimed_message(proto::inbound_message& m, detail::peer_name from, const received& about) noexcept
      : message_(&m), from_(from), about_(about) {}
  claimed_message(claimed_message&& other) noexcept
      : message_(std::exchange(other.message_, nullptr)),
        from_(other.from_),
        about_(other.about_) {}
  claimed_message& operator=(claimed_message&& other) noexcept {
    std::swap(message_, other.message_);
    std::swap(from_, other.from_);
    std::swap(about_, other.about_);
    return *this;
  }
  ~claimed_message();

  /// The source, tag and size of the message.
  const received& about() const noexcept { return about_; }

  /// Receives the message, as `endpoint::recv` does; parts of the message may still be on their
  /// way. This object must live until the receive has been started, and is empty afterwards: a
  /// second receive ends with errc::invalid_argument.
  claimed_request recv(mutable_buffer into) noexcept { return {&message_, from_, into}; }
  claimed_request recv(std::span<const mutable_buffer> list) noexcept {
    return {&message_, from_, list};
  }

  /// Drops the message. Does nothing if the message was received or discarded already.
  void discard() noexcept;

  /// Neither received nor discarded yet.
  explicit operator bool() const noexcept { return message_ != nullptr; }

 private:
  proto::inbound_message* message_;
  detail::peer_name from_;
  received about_;
};

}  // namespace weft
