// SPDX-License-Identifier: Apache-2.0
// What the connection manager tells people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wireup/manager/manager_events.hpp"

namespace weft::wireup {

struct credentials;

/// Clients can bring most of these events about as often as they like: so each kind is told of
/// once, or ever more rarely. On the loop's thread.
class manager_notices {
 public:
  /// \param to its on_notice; outlives this
  explicit manager_notices(manager_events& to) : to_(to) {}

  /// A connection was closed because the peer did wrong.
  void closed(const std::string& peer, const std::string& why);
  /// A client of another user.
  void refused_user(const credentials& client);
  /// A TCP client that has not proven that it may come.
  void refused_tcp_client(int socket, std::string_view what);
  /// A host or process with too many connections.
  void refused_crowd(const std::string& client, std::size_t connections);
  /// Accepting fails for want of descriptors or memory.
  void starved(int error);
  /// Certificates that have changed, and that cannot be used now.
  void stale_certificates(const std::string& why);
  /// The file of the context's own socket is gone.
  void lost_name(const std::string& path);
  /// A client that could not be served.
  void dropped(const char* why);

 private:
  void tell(const std::string& sentence) { to_.on_notice(sentence); }

  manager_events& to_;
  bool told_of_user_ = false;
  bool told_of_tcp_client_ = false;
  bool told_of_crowd_ = false;
  bool told_of_starving_ = false;
  std::uint64_t closed_ = 0;
};

}  // namespace weft::wireup
