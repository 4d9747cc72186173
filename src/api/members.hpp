// SPDX-License-Identifier: Apache-2.0
// What a context knows of its job's members, on rank 0 and elsewhere.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <weft/membership.hpp>

#include "api/callback_request.hpp"
#include "connections/manager_proxy.hpp"
#include "wireup/coordinator.hpp"
#include "wireup/coordinator_connection.hpp"
#include "wireup/job.hpp"

namespace weft::detail {

/// Any thread, except where it says otherwise. On rank 0 the registrar decides; the others follow
/// it over a line, which is made when it is first needed.
class members {
 public:
  using view_box = std::shared_ptr<oneshot<membership_view>>;

  /// \param line of a process that joined; null for others
  members(wireup::job& j, std::shared_ptr<connections::manager_proxy> mail,
          wireup::tcp_settings tcp, std::shared_ptr<wireup::coordinator_connection> line);
  ~members();

  /// Once, before anything else. \param ended told of ranks that left or died, on the manager's
  /// thread
  void attach(wireup::connection_manager& m, std::function<void(peer_id, bool)> ended);
  /// The context goes: nobody waits any longer.
  void shut();

  peer_id rank() const noexcept { return job_.rank(); }
  std::string open(const std::string& address);
  membership_view now();
  void wait(std::uint64_t since, const view_box& box);
  void leave();
  /// Blocks until this process is a member. \return false: it is not after so long
  /// \throws weft::error rank 0 has gone
  bool await_entry(std::chrono::seconds timeout);
  /// As job::find, for every rank.
  /// \param gone as job::find_next; empty: as job::find
  void find(peer_id rank, const std::string& gone, std::function<void(std::string locator)> found);

  // The manager's thread. True: it was for the members, and is done.
  bool on_request(std::uint64_t listener_number, std::unique_ptr<wireup::incoming_request>& v);
  bool on_wireup_message(const wireup::channel_ptr& c, const transports::wireup_message& p);
  bool on_gone(const wireup::channel_ptr& c, bool orderly);
  /// The launcher says so.
  void on_rank_end(peer_id rank, bool died);

 private:
  struct waiter {
    std::uint64_t since;
    view_box box;
  };

  std::shared_ptr<wireup::coordinator_connection> follow();
  void listen();
  void apply(const wireup::changes& c);
  void lose(errc why, std::string_view detail) noexcept;
  membership_view view() const;

  wireup::job& job_;
  const std::shared_ptr<connections::manager_proxy> manager_proxy_;
  const wireup::tcp_settings tcp_;
  wireup::connection_manager* manager_ = nullptr;
  std::function<void(peer_id, bool)> ended_;
  std::unique_ptr<wireup::coordinator> coordinator_;  // rank 0 only; the manager's thread

  std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  wireup::roster book_;
  std::vector<waiter> waiters_;
  std::set<std::uint64_t> listeners_;
  bool lost_ = false;  // nothing more will be told
  errc why_lost_ = errc::ok;
  std::string lost_detail_;
  std::shared_ptr<wireup::coordinator_connection> line_;
};

}  // namespace weft::detail
