// SPDX-License-Identifier: Apache-2.0
// The members of a context's job, as each rank knows them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <weft/membership.hpp>

#include "api/core/callback_request.hpp"
#include "connections/manager_proxy.hpp"
#include "wireup/job/coordinator.hpp"
#include "wireup/job/coordinator_connection.hpp"
#include "wireup/job/job.hpp"

namespace weft::detail {

/// Any thread, except where it says otherwise. The coordinator of rank 0 decides; the other ranks
/// follow over a coordinator connection, which is made when it is first needed.
class members {
 public:
  using view_box = std::shared_ptr<oneshot<membership_view>>;

  /// \param line the coordinator connection of a process that joined; null for others
  members(wireup::job& j, std::shared_ptr<connections::manager_proxy> mail,
          wireup::tcp_settings tcp, std::shared_ptr<wireup::coordinator_connection> line,
          runtime::log_ptr reports);
  ~members();

  /// Once, before anything else. \param ended called on the manager's thread for each rank that has
  /// left (false) or died (true)
  void attach(wireup::connection_manager& m, std::function<void(peer_id, bool)> ended);
  /// The context ends: all waits end with errc::closed.
  void shut();

  peer_id rank() const noexcept { return job_.rank(); }
  /// As membership::returned.
  bool returned() const noexcept { return job_.place() != job_.rank(); }
  std::string open(const std::string& address);
  membership_view now();
  void wait(std::uint64_t since, const view_box& box);
  void leave();
  /// Blocks until this process is a member, as one that was there from the start is.
  /// \throws weft::error (peer_lost, closed) rank 0 has gone, (unreachable) it has not answered
  void await_entry(std::chrono::seconds timeout);
  /// As job::find, for every rank.
  /// \param gone as job::find_next; empty: as job::find
  void find(peer_id rank, const std::string& gone, std::function<void(std::string locator)> found);

  // The manager's thread.
  /// \return true: the request belonged to the members, and is answered
  bool on_request(std::uint64_t listener_number, std::unique_ptr<wireup::incoming_request>& v);
  /// The launcher says that a rank has ended.
  void on_rank_ended(peer_id rank, bool died);

 private:
  struct waiter {
    std::uint64_t since;
    view_box box;
  };

  std::shared_ptr<wireup::coordinator_connection> follow();
  void listen(wireup::coordinator_connection& line);
  void apply(const wireup::changes& c);
  void end(proto::ended how) noexcept;
  membership_view view() const;

  wireup::job& job_;
  const std::shared_ptr<connections::manager_proxy> manager_proxy_;
  const wireup::tcp_settings tcp_;
  const runtime::log_ptr log_;
  wireup::connection_manager* manager_ = nullptr;
  std::function<void(peer_id, bool)> ended_;
  std::unique_ptr<wireup::coordinator> coordinator_;  // rank 0 only; the manager's thread

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  wireup::roster book_;
  std::vector<waiter> waiters_;
  std::set<std::uint64_t> listeners_;
  std::optional<proto::ended> how_ended_;  // no change will be reported any more
  std::shared_ptr<wireup::coordinator_connection> line_;
};

}  // namespace weft::detail
