// SPDX-License-Identifier: Apache-2.0
// Rank 0's listener, where the ranks of its job meet.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "runtime/os/log.hpp"
#include "wireup/auth/job_key.hpp"
#include "wireup/bootstrap/root_book.hpp"
#include "wireup/bootstrap/starter.hpp"
#include "wireup/loop/listener.hpp"
#include "wireup/tcp/tcp_clients.hpp"

namespace weft::wireup {

/// Brings clients that know the job's key to the book. On the loop's thread, but for `open`.
class root_listener {
 public:
  struct terms {
    job_key key;
    std::chrono::seconds peer_timeout{10};
    std::shared_ptr<wireup::encryption> encryption;
    runtime::log_ptr reports;
  };

  /// Listens at the port, on all addresses of this host; on the loopback only, if that is where
  /// rank 0 is to be reached. Any thread. \throws weft::error (system)
  static unique_fd open(const root_place& at);

  /// \param book outlives this
  root_listener(loop& on, unique_fd socket, root_book& book, terms t);
  void close();

 private:
  class client;

  void on_client(unique_fd socket);
  void admit(proven_socket client);
  void turned_away(int socket, const std::string& what);

  loop& loop_;
  root_book& book_;
  const terms terms_;
  std::shared_ptr<listener> front_;
  tcp_clients in_handshake_;
  bool told_ = false;
};

}  // namespace weft::wireup
