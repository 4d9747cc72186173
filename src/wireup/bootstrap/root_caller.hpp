// SPDX-License-Identifier: Apache-2.0
// The connection of a rank to rank 0, where the ranks of the job meet.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "wireup/auth/job_key.hpp"
#include "wireup/bootstrap/starter.hpp"
#include "wireup/loop/connection.hpp"
#include "wireup/tcp/tcp_asking.hpp"

namespace weft::wireup {

/// Connects when rank 0 listens: its process, or even its host, may start later than this one. So
/// it tries again until it is closed, ever more seldom. On the loop's thread; keeps itself alive
/// until it has ended.
class root_caller : public connection::user, public std::enable_shared_from_this<root_caller> {
 public:
  struct events {
    std::function<void()> connected;
    std::function<void(frame)> on_frame;
    /// The connection has ended.
    std::function<void()> lost;
    /// It is of no use to try again.
    std::function<void(std::string why)> failed;
  };

  /// \param key not empty
  root_caller(std::shared_ptr<loop> on, root_place root, job_key key,
              std::shared_ptr<encryption> encrypts, std::chrono::seconds peer_timeout, events to);

  void start();
  /// Leaves the connection, if there is one, and connects again after a pause.
  void start_again();
  /// Frames without a connection are lost.
  void send(frame f);
  void close_when_sent();
  void close();
  bool is_connected() const noexcept { return link_ != nullptr; }
  /// Why there is no connection yet, for people.
  const std::string& last_failure() const noexcept { return last_failure_; }

 private:
  void on_frame(frame f) override { to_.on_frame(std::move(f)); }
  void on_ended(connection::ending) override;
  void on_answer(tcp_asking::outcome result);

  const std::shared_ptr<loop> loop_;
  const root_place root_;
  const job_key key_;
  const std::shared_ptr<encryption> encryption_;
  const std::chrono::seconds peer_timeout_;
  const events to_;
  std::shared_ptr<tcp_asking> asking_;
  std::shared_ptr<connection> link_;
  asio::steady_timer pause_;
  std::chrono::milliseconds next_pause_;
  std::string last_failure_;
  bool closed_ = false;
};

}  // namespace weft::wireup
