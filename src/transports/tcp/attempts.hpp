// SPDX-License-Identifier: Apache-2.0
// Connecting to a peer that may be reached in several ways.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "runtime/close_on_fork.hpp"
#include "runtime/wait_set.hpp"
#include "transports/tcp/proof.hpp"
#include "transports/tcp/socket.hpp"

namespace weft::transports::tcp {

/// Tries the addresses of a peer, because nobody can tell which of them are reachable from here:
/// the first one, the next when that fails, and all at once when it takes long. The first that
/// answers the greeting counts; the peer takes one connection only. One that was hung up on may
/// have had to make room for strangers, and is tried again a little later. Owned by a pair; baton
/// held only; its watchers are called from within transport::poll.
class attempts {
 public:
  /// \param offered the token of its offer \param who by way of which that came
  /// \param ended called once, as the last thing: with the connection, or with none and the
  /// reasons.
  ///   It may destroy this.
  attempts(runtime::wait_set& sockets, std::vector<address> to, const token& offered,
           counterpart who, std::chrono::seconds patience,
           std::function<void(runtime::unique_fd, const std::string& why_not)> ended);
  ~attempts();
  attempts(const attempts&) = delete;
  attempts& operator=(const attempts&) = delete;

  /// Why none is under way; empty while one is. For the beginning, when `ended` is not called.
  std::string hopeless() const { return tried_.empty() ? reasons_ : std::string(); }

  /// It takes long. Called every now and then, until it has ended.
  void hurry() noexcept;

 private:
  struct target {
    address at;
    unsigned tries = 0;  // that were hung up on
  };
  struct attempt final : runtime::fd_watcher {
    attempts* in = nullptr;
    runtime::unique_fd fd;
    runtime::close_on_fork fork_guard;
    target to;
    bool greeted = false;
    welcome heard{};
    std::size_t heard_bytes = 0;
    std::list<attempt>::iterator self;
    void on_ready(std::uint32_t events) noexcept override;
  };

  bool try_next() noexcept;
  void go_on(attempt& a) noexcept;
  void greet(attempt& a);
  void give_up(attempt& a, const char* why) noexcept;
  void hung_up(attempt& a) noexcept;
  void end_if_over() noexcept;
  void note(const address& to, int code) noexcept;
  void note(const address& to, const char* why) noexcept;

  runtime::wait_set& sockets_;
  const greeting says_;
  const counterpart who_;
  const std::chrono::seconds patience_;
  std::vector<target> to_;  // has room for every further try
  std::size_t next_ = 0;
  std::vector<target> later_;  // as has this
  std::function<void(runtime::unique_fd, const std::string&)> ended_;
  std::list<attempt> tried_;
  std::string reasons_;
};

}  // namespace weft::transports::tcp
