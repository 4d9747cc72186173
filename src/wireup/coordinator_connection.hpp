// SPDX-License-Identifier: Apache-2.0
// A member's line to rank 0 of its job, which keeps the book of who belongs to it.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "wireup/connection_manager.hpp"
#include "wireup/roster.hpp"

namespace weft::wireup {

/// Has a connection manager of its own, so that a process can ask for a rank before it has a
/// context. Any thread may call it; handlers are called on its manager's thread, one at a time.
class coordinator_connection {
 public:
  /// \param tcp how to reach rank 0; the line itself listens nowhere
  /// \param job whose rank it speaks for; none: a process that is about to join
  explicit coordinator_connection(tcp_settings tcp, const context_id& job = {},
                                  peer_id rank = no_peer);
  ~coordinator_connection();

  using told = std::function<void(const failure& why)>;

  /// Calls rank 0. `done` is told errc::ok when the line stands, else why not.
  /// \param address a listener that rank 0 opened for joiners
  void join(const std::string& address, told done);
  /// \param locator rank 0's \param rank this process's
  void attend(const std::string& locator, peer_id rank, told done);

  /// What rank 0 said; once the line stands.
  roster_welcome facts() const;

  /// Tells each change from the first one on; then, once, that the line has ended (`orderly` as in
  /// connection_manager::handlers).
  void listen(std::function<void(const changes&)> changed, std::function<void(bool orderly)> ended);

  void publish(const std::string& locator);
  /// As job::find. Asks once the line stands.
  void find(peer_id rank, std::function<void(std::string locator)> found);
  void leave();

  /// Ends the line in good order. Afterwards no handler is running and none will be called, though
  /// others may still hold the line. Not from a handler.
  void end();

 private:
  connection_manager::handlers handlers();
  void on_channel(const channel_ptr& c, const failure& why);
  void on_wireup_message(const channel_ptr& c, const transports::wireup_message& p);
  void on_gone(bool orderly);
  void send(transports::wireup_message p);
  void conclude(const failure& why);

  mutable std::mutex mutex_;  // what follows, except the manager
  channel_ptr channel_;
  told done_;
  bool ended_ = false;
  bool orderly_ = false;
  roster_welcome facts_;
  std::vector<changes> log_;
  std::size_t logged_ = 0;  // how many these are
  std::function<void(const changes&)> changed_;
  std::function<void(bool)> end_told_;
  std::multimap<peer_id, std::function<void(std::string)>> waiting_;
  std::vector<transports::wireup_message> unsent_;  // from before the line stood

  std::unique_ptr<connection_manager> manager_;  // last: its thread uses the rest
};

}  // namespace weft::wireup
