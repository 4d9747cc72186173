// SPDX-License-Identifier: Apache-2.0
// A descriptor kept for the case that no other is left.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <utility>

#include "runtime/descriptors/close_on_fork.hpp"
#include "runtime/descriptors/fd.hpp"

namespace weft::runtime {

/// Kept by the side that accepts connections. When descriptors have run out, a connecting client
/// would wait in the kernel's queue until there are some, perhaps for ever: several processes can
/// wait for each other. With the spare descriptor each client can be accepted, told so, and
/// disconnected. One thread at a time.
class spare_fd {
 public:
  /// \param listening a socket on which connections are accepted. Kept open until this object is
  ///   destroyed, or until `give_up`.
  /// \param hangs_up disconnects clients that have sent descriptors; null: none can (TCP)
  /// \throws weft::error (system) when there is no descriptor for it
  explicit spare_fd(int listening, std::shared_ptr<disposal> hangs_up = {})
      : hangs_up_(std::move(hangs_up)), spare_(duplicate(listening)), fork_guard_(spare_.get()) {}

  /// Accepts one client, passes its socket to `say`, and disconnects.
  /// \return false: no client waits, or another thread was faster to use the descriptor
  template <class Say>
  bool turn_away(int listening, const Say& say) noexcept {
    give_up();
    unique_fd next(::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!next) {
      keep(unique_fd(::fcntl(listening, F_DUPFD_CLOEXEC, 0)));
      return false;
    }
    say(next.get());
    if (hangs_up_ && !disposal::shut_down(next.get())) {
      hangs_up_->hang_up(next.release());
      keep({});  // until the next call finds a descriptor
      return true;
    }
    // Disconnects and becomes the spare descriptor again in one step: no other thread gets the
    // number in between.
    static_cast<void>(::dup3(listening, next.get(), O_CLOEXEC));
    keep(std::move(next));
    return true;
  }

  void give_up() noexcept {
    fork_guard_.drop();
    spare_ = unique_fd();
  }

 private:
  void keep(unique_fd fd) noexcept {
    spare_ = std::move(fd);
    fork_guard_.watch(spare_.get());
  }

  std::shared_ptr<disposal> hangs_up_;
  unique_fd spare_;
  close_on_fork fork_guard_;  // a child that kept it would keep the listening socket alive
};

}  // namespace weft::runtime
