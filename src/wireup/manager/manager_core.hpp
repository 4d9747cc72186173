// SPDX-License-Identifier: Apache-2.0
// The inside of the connection manager.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "wireup/channel/connect_attempt.hpp"
#include "wireup/channel/meeting.hpp"
#include "wireup/channel/peer_channel.hpp"
#include "wireup/manager/connection_limits.hpp"
#include "wireup/manager/connection_manager.hpp"
#include "wireup/manager/listener_table.hpp"
#include "wireup/manager/manager_notices.hpp"
#include "wireup/manager/name_watch.hpp"
#include "wireup/tcp/tcp_clients.hpp"

namespace weft::wireup {

/// Members belong to the loop's thread, except where they say otherwise. Outlives that thread.
class connection_manager::impl final : public peer_channel::owner, public meeting_host {
 public:
  impl(identity self, manager_events& to, tcp_settings tcp, lane_number lanes,
       runtime::log_ptr reports);
  ~impl() override;
  void start_accepting();
  void end(bool failed);  ///< the thread that owns the manager

  // Any thread: what the manager offers.
  const context_key& key() const noexcept override { return key_; }
  const identity& self() const noexcept { return self_; }
  lane_number lanes() const noexcept { return lanes_; }
  void post(std::function<void()> f) { loop_->post(std::move(f)); }
  void call_after(std::chrono::microseconds time, std::function<void()> f);  ///< the loop's thread
  void call_later(std::chrono::microseconds time, std::function<void()> f);  ///< as call_after
  void connect(std::string locator, channel_ready done, lane_pair lanes);
  void connect(locator where, job_key key, channel_ready done, lane_pair lanes);
  std::uint64_t open_listener(const std::string& address, std::string& actual_address,
                              const std::function<void(std::uint64_t)>& known, lane_number lane,
                              std::shared_ptr<renewable_certificates> certificates);
  void close_listener_later(std::uint64_t listener_number);
  void request_connection(std::string address, std::string private_data, channel_ready done,
                          lane_number lane, std::shared_ptr<const net::tls::settings> certificates);
  void connect_to_coordinator(std::string locator, std::string private_data, channel_ready done);
  std::uint64_t meet(std::string own, std::string other, std::string discriminator,
                     channel_ready done, lane_number lane);
  void cancel_meet(std::uint64_t meeting);

 private:
  // peer_channel::owner
  void on_asking(const std::shared_ptr<peer_channel>& who) override;
  void on_hello(const std::shared_ptr<peer_channel>& who, hello h) override;
  void on_dump_request(const std::shared_ptr<peer_channel>& who, dump_form form) override;
  channel_events& on_live(const std::shared_ptr<peer_channel>& who) noexcept override;
  void release(const std::shared_ptr<peer_channel>& who, peer_channel::stage was,
               const std::string& notice) override;
  // meeting_host
  identity speaker(lane_number lane) const override;
  std::uint64_t open_meeting_listener(const std::string& address, lane_number lane) override;
  void close_listener(std::uint64_t number) override;
  std::shared_ptr<connect_attempt> start_attempt(hello says, const std::string& address,
                                                 channel_ready done) override;

  std::shared_ptr<renewable_certificates> usual_certificates(const listen_address& at) const;
  std::shared_ptr<connect_attempt> attempt(hello says, const std::string& address,
                                           channel_ready done,
                                           std::shared_ptr<const net::tls::settings> by);
  listening open_socket(listen_address& address, bool is_certified);
  void on_client(unique_fd client, std::uint64_t listener_number, bool is_unix);
  void on_unix_client(unique_fd client, std::uint64_t listener_number);
  void on_tcp_client(unique_fd client, std::uint64_t listener_number);
  void admit(proven_socket client, connection::medium m, std::uint64_t listener_number);
  void on_request(const std::shared_ptr<peer_channel>& who, std::uint64_t listener_number, hello h);
  void admit_to_lane(const std::shared_ptr<peer_channel>& who, lane_number lane);
  void announce(std::uint64_t listener_number, lane_number lane,
                const std::shared_ptr<peer_channel>& who, hello h);
  std::shared_ptr<connect_attempt> new_attempt(hello says, channel_ready done);
  hello greeting(lane_pair lanes) const;
  void connect_to(hello says, std::string locator, channel_ready done);
  void update_pause();
  void shut_down(bye_kind how);
  void give_up();
  void end_what_is_under_way(const failure& why);

  const std::shared_ptr<loop> loop_;  // first: all others end before it
  const context_key key_;
  identity self_;  // constant once constructed
  const lane_number lanes_;
  manager_events& events_;
  const tcp_settings tcp_;
  std::atomic<std::uint64_t> next_number_{1};  // of listeners and meetings; any thread
  manager_notices notices_;
  connection_limits limits_;
  listener_table listeners_;
  std::shared_ptr<name_watch> name_watch_;  // null: the context's socket has no file
  std::unordered_set<std::shared_ptr<peer_channel>> channels_;
  std::vector<std::weak_ptr<connect_attempt>> attempts_;  // they keep themselves alive
  tcp_clients tcp_clients_;                               // in the handshake
  meetings meetings_;
  std::optional<asio::steady_timer> later_;  // of call_later
  bool closing_ = false;
  bool ended_ = false;  // of the thread that owns the manager
};

}  // namespace weft::wireup
