// SPDX-License-Identifier: Apache-2.0
// Sends memory without a copy.
#pragma once

#include <sys/types.h>

#include <weft/message.hpp>

#include "runtime/descriptors/close_on_fork.hpp"
#include "runtime/descriptors/fd.hpp"

namespace weft::transports::tcp {

/// A pipe through which pages of the application's memory go into a socket: the kernel notes where
/// they are (vmsplice, splice), and on a connection that stays on this host only the receiver
/// copies. So the memory must stay as it is until the receiver has read it, not only until the
/// socket has taken it. One for a transport, made at its first use; progress lock held only.
class lending_pipe {
 public:
  /// Moves the beginning of `what` into the socket.
  /// \param owner says whose memory it is: bytes that the socket does not take stay in the pipe,
  ///   and the owner's next call begins with the same bytes
  /// \param more further bytes follow at once
  /// \return as send(2); 0: it cannot be lent now, and has to be copied
  ssize_t send(int socket, const void* owner, const_buffer what, bool more) noexcept;

  /// Forgets the owner's bytes that the socket has not taken.
  void drop(const void* owner) noexcept;

  /// Whether the kernel has not refused it yet, or given too small a pipe.
  bool usable() const noexcept { return usable_; }

 private:
  bool fill(const_buffer what) noexcept;
  bool open() noexcept;
  void close() noexcept;

  unique_fd in_, out_;
  runtime::close_on_fork in_guard_, out_guard_;  // a child would keep the pages that are in it
  const void* owner_ = nullptr;                  // of the bytes in the pipe
  std::size_t left_ = 0;                         // in the pipe
  bool usable_ = true;
};

}  // namespace weft::transports::tcp
