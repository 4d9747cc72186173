// SPDX-License-Identifier: Apache-2.0
// Accepts connections; waits when it has no descriptors or memory for them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "runtime/descriptors/close_on_fork.hpp"
#include "runtime/descriptors/fd.hpp"
#include "runtime/descriptors/spare_fd.hpp"
#include "wireup/loop/loop.hpp"

namespace weft::wireup {

/// Accepts on a listening socket of any kind. Everything on the loop's thread. Lives until `close`.
class listener : public std::enable_shared_from_this<listener> {
 public:
  /// Gets a client's socket. That of a Unix socket ends in the loop's `disposal`. Its user is
  /// not checked yet.
  using accepted = std::function<void(unique_fd)>;
  /// Called with the errno when accepting fails for want of descriptors or memory.
  using starved = std::function<void(int error)>;
  /// Sends something to a client whose connection is closed afterwards. The callee does not own
  /// the socket.
  using sorry = std::function<void(int socket)>;

  /// \param regret called for clients that have waited for descriptors for seconds; may be empty
  /// \throws weft::error, std::system_error when the socket cannot be watched, or there is no
  ///   spare descriptor
  listener(loop& on, unique_fd socket, accepted take, starved warn, sorry regret);
  ~listener();

  void start();
  /// Leaves clients in the kernel's queue until `resume`.
  void pause() { paused_ = true; }
  void resume();
  void close();

 private:
  void wait();
  void accept();
  void rest();
  bool turn_away_one();
  void stop_listening() noexcept;

  // Closes what clients of a Unix socket may have sent; null: they come by TCP.
  const std::shared_ptr<runtime::disposal> disposal_;
  asio::posix::stream_descriptor socket_;
  runtime::close_on_fork fork_guard_;  // of the socket: no child keeps it
  asio::steady_timer rest_;
  accepted take_;
  starved warn_;
  sorry regret_;
  runtime::spare_fd spare_;
  std::optional<std::chrono::steady_clock::time_point> starved_since_;
  bool paused_ = false;
  bool waiting_ = false;
  bool closed_ = false;
};

}  // namespace weft::wireup
