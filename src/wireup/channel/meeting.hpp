// SPDX-License-Identifier: Apache-2.0
// Simultaneous connect: both sides request a connection at each other's listener, and one channel
// results.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "wireup/channel/connect_attempt.hpp"
#include "wireup/loop/name_lookup.hpp"

namespace weft::wireup {

/// The functions of the manager that a meeting needs. On the loop's thread.
class meeting_host {
 public:
  virtual ~meeting_host() = default;
  /// This context, as one of its lanes speaks.
  virtual identity speaker(lane_number lane) const = 0;
  /// \throws weft::error as connection_manager::open_listener
  virtual std::uint64_t open_meeting_listener(const std::string& address, lane_number lane) = 0;
  virtual void close_listener(std::uint64_t listener_number) = 0;
  virtual std::shared_ptr<connect_attempt> start_attempt(hello says, const std::string& address,
                                                         channel_ready done) = 0;
};

/// All meetings of one manager. On the loop's thread.
///
/// Each side opens its listener before it requests a connection, so the second request finds a
/// listener. A request that failed is repeated after a pause, because addresses may be reachable in
/// one direction only. When both sides request at the same time, the request of the smaller context
/// (by id, then by ticket) counts: the larger side accepts that request at once, and the smaller
/// side holds the other request back for as long as its own can still succeed.
class meetings {
 public:
  meetings(meeting_host& host, std::shared_ptr<loop> on) : host_(host), loop_(std::move(on)) {}

  void start(std::uint64_t ticket, const std::string& own, const std::string& other,
             const std::string& discriminator, channel_ready done, lane_number lane);
  void cancel(std::uint64_t ticket, const failure& why);
  void cancel_all(const failure& why);

  /// A connection request has come to a meeting's listener.
  void on_request(std::uint64_t listener_number, const std::shared_ptr<peer_channel>& who,
                  const hello& h);

 private:
  struct meeting {
    std::string own;
    std::string discriminator;
    channel_ready done;
    lane_number lane = 0;
    std::uint64_t listener_number = 0;  // 0: it is not open yet
    std::string other;
    bool requesting = false;              // false between two requests of ours
    std::chrono::milliseconds pause{50};  // before our next request
    std::shared_ptr<asio::steady_timer> request_timer;
    std::shared_ptr<connect_attempt> request_connection;
    std::shared_ptr<peer_channel> held;  // a request that counts only if ours fails
  };
  struct shared_listener {
    std::uint64_t number = 0;
    int users = 0;
  };
  using meeting_map = std::map<std::uint64_t, meeting>;

  void begin(std::uint64_t ticket, const std::string& listens_at);
  void on_looked_up(std::uint64_t ticket, const addresses_of_name& found);
  std::uint64_t enter(const std::string& own, const std::string& listens_at, lane_number lane);
  void release_listener(const std::string& own);
  void request_connection(std::uint64_t ticket);
  void request_later(std::uint64_t ticket, meeting& m);
  void on_request_answered(std::uint64_t ticket, const channel_ptr& got);
  void accept_request(meeting_map::iterator at, const std::shared_ptr<peer_channel>& who);
  void end(meeting_map::iterator at, const channel_ptr& got, const failure& why);

  meeting_host& host_;
  const std::shared_ptr<loop> loop_;
  meeting_map meetings_;                              // by ticket
  std::map<std::string, shared_listener> listeners_;  // by address: meetings may share one
};

}  // namespace weft::wireup
