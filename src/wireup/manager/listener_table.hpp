// SPDX-License-Identifier: Apache-2.0
// The listening sockets of a connection manager.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "runtime/descriptors/fd.hpp"
#include "wireup/base/identity.hpp"
#include "wireup/loop/listener.hpp"
#include "wireup/loop/loop.hpp"
#include "wireup/sockets/address.hpp"
#include "wireup/tcp/renewable_certificates.hpp"

namespace weft::wireup {

/// On the loop's thread, once that runs. The listeners that the application opens have numbers;
/// those of the context itself, over a Unix socket and over TCP, have the number 0.
class listener_table {
 public:
  struct entry {
    std::shared_ptr<listener> socket;
    socket_file file;
    bool is_unix = true;
    bool for_meetings = false;
    lane_number lane = 0;            // to which its clients come
    bool tells_unix_socket = false;  // "any://": tells clients over TCP where the Unix socket is
    std::shared_ptr<renewable_certificates> certificates{};  // null: the job's key
  };

  /// \param listener_number the listener that the client has come to
  using accepted =
      std::function<void(unique_fd client, std::uint64_t listener_number, bool is_unix)>;

  listener_table(loop& on, accepted take, listener::starved warn)
      : loop_(on), take_(std::move(take)), warn_(std::move(warn)) {}

  /// A listener of the context itself. Accepts from `start` on. \throws as listener
  void add_own(listening socket, bool is_unix);
  /// Accepts from now on.
  void add(std::uint64_t number, const listen_address& address, listening socket, bool for_meetings,
           lane_number lane, std::shared_ptr<renewable_certificates> certificates = {});
  /// \return a listener of the application; null: it is closed, or never was
  const entry* find(std::uint64_t number) const;
  void close(std::uint64_t number);
  void close_all();
  /// All accept, the context's own among them, also after `give_up` of the loop.
  void start();
  /// Clients over Unix sockets wait in the kernel's queue, or do not any more.
  void pause(bool wanted);

 private:
  std::shared_ptr<listener> make(std::uint64_t number, unique_fd socket, bool is_unix);

  loop& loop_;
  const accepted take_;
  const listener::starved warn_;
  std::vector<entry> own_;
  std::map<std::uint64_t, entry> entries_;
  bool paused_ = false;
};

}  // namespace weft::wireup
