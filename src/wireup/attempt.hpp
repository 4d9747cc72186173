// SPDX-License-Identifier: Apache-2.0
// One attempt to get a channel, from an address or a locator to the other side's answer.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "wireup/address.hpp"
#include "wireup/any_door.hpp"
#include "wireup/channel.hpp"

namespace weft::wireup {

/// On the loop's thread. `done` is called once, unless `cancel` came first.
class attempt : public std::enable_shared_from_this<attempt> {
 public:
  attempt(std::shared_ptr<loop> on, peer_channel::owner& whose, hello says,
          connection_manager::connected done);

  void to_locator(std::string locator);
  void to_door(const door_address& address);

  /// Ends at once; nobody is called.
  void cancel();
  /// Ends at once, and says so.
  void fail(std::string why);

 private:
  void connect();
  void take(runtime::unique_fd socket);
  void give_up(int error);
  void end(channel_ptr got, std::string failure);

  const std::shared_ptr<loop> loop_;
  peer_channel::owner& owner_;
  hello says_;
  connection_manager::connected done_;
  asio::steady_timer retry_;
  std::chrono::steady_clock::time_point give_up_at_;
  std::shared_ptr<door_asking> asking_;
  std::shared_ptr<peer_channel> channel_;
  std::string socket_name_;
  std::string where_;  // what the caller called it
  int hang_ups_ = 0;   // before an answer
  enum class route { locator, unix_door, any_door } route_ = route::locator;
};

}  // namespace weft::wireup
