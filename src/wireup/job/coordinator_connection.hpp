// SPDX-License-Identifier: Apache-2.0
// A member's channel to rank 0 of its job, which keeps the roster.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "wireup/job/roster.hpp"
#include "wireup/manager/connection_manager.hpp"

namespace weft::wireup {

/// Has a connection manager of its own, so that a process can ask for a rank before it has a
/// context. Any thread may call it; what it is given is called on its manager's thread, one at a
/// time.
class coordinator_connection final : private channel_events, private manager_events {
 public:
  /// \param tcp how to reach rank 0; this connection itself listens nowhere
  /// \param job whose rank it speaks for; none: a process that is about to join
  /// \param reports of the context that this is for
  explicit coordinator_connection(tcp_settings tcp, const context_id& job = {},
                                  peer_id rank = no_peer,
                                  runtime::log_ptr reports = runtime::log_on_standard_error());
  ~coordinator_connection();

  using told = std::function<void(const failure& why)>;

  /// Connects to rank 0. `done` is told errc::ok when the connection is ready, else why it is not.
  /// \param address a listener that rank 0 opened for joiners
  void join(const std::string& address, told done);
  /// \param locator rank 0's \param rank this process's
  void attend(const std::string& locator, peer_id rank, told done);
  /// The same for a process that takes the place of a lost rank, under a rank of its own.
  void come_back(const std::string& locator, peer_id place, told done);

  /// What rank 0's welcome said; valid once the connection is ready.
  roster_welcome facts() const;

  /// Calls `changed` for each change from the first one on. Calls `ended` once when the connection
  /// has ended (`orderly` as proto::ended).
  void listen(std::function<void(const changes&)> changed, std::function<void(bool orderly)> ended);

  void publish(const std::string& locator);
  /// As job::find. The question is sent once the connection is ready.
  void find(peer_id rank, std::function<void(std::string locator)> found);
  void leave();
  const runtime::log_ptr& log() const noexcept { return log_; }

  /// Ends the connection in good order. Afterwards no handler is running and none will be called,
  /// though other owners may still hold this object. Not from a handler.
  void end();

 private:
  // channel_events
  void on_wireup_message(const channel_ptr& c, transports::wireup_message m) override;
  void on_ended(const channel_ptr&, const proto::ended& how) override;
  // manager_events
  channel_events& on_live(const channel_ptr&) noexcept override { return *this; }
  void on_notice(const std::string& sentence) override {
    log_->write(log_level::warning, sentence);
  }
  void call(const std::string& locator, const roster_greeting& says, told done);
  void on_channel(const channel_ptr& c, const failure& why);
  void send(transports::wireup_message p);
  void conclude(const failure& why);

  const runtime::log_ptr log_;
  mutable std::mutex mutex_;  // guards what follows, except the manager
  channel_ptr channel_;
  told done_;
  bool ended_ = false;
  bool orderly_ = false;
  roster_welcome facts_;
  std::vector<changes> kept_;
  std::size_t kept_changes_ = 0;  // the number of changes in kept_
  std::function<void(const changes&)> changed_;
  std::function<void(bool)> end_told_;
  std::multimap<peer_id, std::function<void(std::string)>> waiting_;
  std::vector<transports::wireup_message> unsent_;  // from before the connection was ready

  std::unique_ptr<connection_manager> manager_;  // last: its thread uses the rest
};

}  // namespace weft::wireup
