// SPDX-License-Identifier: Apache-2.0
// How many clients a context serves at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace weft::wireup {

/// Counts only; the connection manager acts. On the loop's thread, except for what hold_request
/// returns.
class connection_limits {
 public:
  // More clients than this wait in the kernel's queue until some have said who they are.
  static constexpr std::size_t most_unknown = 64;
  // One process, or one other host, has at most so many connections: each costs a descriptor.
  static constexpr std::size_t most_of_process = 1024;
  static constexpr std::size_t most_of_host = 4096;
  // So many connection requests may wait for a decision at one listener.
  static constexpr std::size_t most_undecided = 1024;

  /// A connection of that process or host comes. \return false: it has too many
  bool add(const std::string& origin, bool is_host);
  void remove(const std::string& origin);

  // Connections whose peer has not said who it is.
  void add_unknown() noexcept { ++unknown_; }
  void remove_unknown() noexcept { --unknown_; }
  bool are_unknown_full() const noexcept { return unknown_ >= most_unknown; }

  /// \return counts one request of that listener until it is released, by any thread and also after
  /// this object has gone; null: there are too many \throws std::bad_alloc
  std::shared_ptr<void> hold_request(std::uint64_t listener_number);
  void forget_listener(std::uint64_t listener_number) { undecided_.erase(listener_number); }

 private:
  std::size_t unknown_ = 0;
  std::map<std::string, std::size_t> of_origin_;
  std::map<std::uint64_t, std::shared_ptr<std::atomic<std::size_t>>> undecided_;  // by listener
};

}  // namespace weft::wireup
