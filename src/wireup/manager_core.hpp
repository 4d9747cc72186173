// SPDX-License-Identifier: Apache-2.0
// The inside of the connection manager.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "wireup/channel.hpp"
#include "wireup/connect_attempt.hpp"
#include "wireup/connection_manager.hpp"
#include "wireup/listener.hpp"
#include "wireup/meeting.hpp"
#include "wireup/tcp_answering.hpp"

namespace weft::wireup {

/// Members belong to the loop's thread, except where they say otherwise. Outlives that thread.
class connection_manager::impl final : public peer_channel::owner, public meeting_host {
 public:
  impl(identity self, handlers h, tcp_settings tcp);
  ~impl() override;
  void start_accepting();
  void end();  ///< the thread that owns the manager

  // Any thread: what the manager offers.
  const context_key& key() const noexcept override { return key_; }
  const identity& self() const noexcept override { return self_; }
  void post(std::function<void()> f) { loop_->post(std::move(f)); }
  void call_after(std::chrono::microseconds time, std::function<void()> f);  ///< the loop's thread
  void connect(std::string locator, connected done);
  void connect(locator where, job_key key, connected done);
  std::uint64_t open_listener(const std::string& address, std::string& actual_address,
                              const std::function<void(std::uint64_t)>& known);
  void close_listener_later(std::uint64_t listener_number);
  void request_connection(std::string address, std::string private_data, connected done);
  void connect_to_coordinator(std::string locator, std::string private_data, connected done);
  std::uint64_t meet(std::string own, std::string other, std::string discriminator, connected done);
  void cancel_meet(std::uint64_t meeting);

 private:
  struct listener_entry {
    std::shared_ptr<listener> socket;
    bool for_meetings = false;
    bool is_unix = true;
    bool answers = false;  // "any://": tells where the Unix socket is
  };

  // peer_channel::owner
  void on_asking(const std::shared_ptr<peer_channel>& who) override;
  void on_hello(const std::shared_ptr<peer_channel>& who, hello h) override;
  void on_wireup_message(const std::shared_ptr<peer_channel>& who,
                         transports::wireup_message p) override;
  void on_ended(const std::shared_ptr<peer_channel>& who, peer_channel::stage was, bool orderly,
                const std::string& why) override;
  // meeting_host
  asio::io_context& io() noexcept override { return loop_->io(); }
  std::uint64_t open_meeting_listener(const std::string& address) override;
  void close_listener(std::uint64_t number) override;
  void look_up(const std::string& host, std::function<void(addresses_of_name)> done) override;
  std::shared_ptr<connect_attempt> start_attempt(hello says, const std::string& address,
                                                 connected done) override;

  runtime::unique_fd open_socket(listen_address& address);
  void install_door(std::uint64_t number, const listen_address& address, runtime::unique_fd socket,
                    bool for_meetings);
  void on_newcomer(runtime::unique_fd socket, std::uint64_t listener_number);
  void on_tcp_newcomer(runtime::unique_fd socket, std::uint64_t listener_number);
  void admit(runtime::unique_fd socket, connection::medium m, const admission& known,
             std::uint64_t listener_number);
  std::shared_ptr<listener> new_front(runtime::unique_fd socket,
                                      void (impl::*take)(runtime::unique_fd, std::uint64_t));
  void on_knock(const std::shared_ptr<peer_channel>& who, std::uint64_t listener_number, hello h);
  void announce(std::uint64_t listener_number, const std::shared_ptr<peer_channel>& who, hello h);
  std::shared_ptr<connect_attempt> new_attempt(hello says, connected done);
  void go_to(hello says, std::string locator, connected done);
  void balance();
  void notice(const std::string& text);
  void notice_closed(const std::string& whose, const std::string& why);
  void notice_starved(int error);
  void notice_tcp_stranger(int socket, std::string_view what);
  static void say_no_room(int socket);
  void shut_down();
  void give_up();
  void end_what_is_under_way(const failure& why);

  const std::shared_ptr<loop> loop_;  // first, because what follows is gone before it
  const context_key key_;
  identity self_;  // constant once constructed
  const handlers handlers_;
  std::atomic<std::uint64_t> next_number_{1};  // listeners and meetings; any thread
  const tcp_settings tcp_;
  std::shared_ptr<listener> front_;
  std::shared_ptr<listener> tcp_front_;
  std::map<std::uint64_t, listener_entry> listeners_;
  std::unordered_set<std::shared_ptr<peer_channel>> channels_;
  std::vector<std::weak_ptr<connect_attempt>> attempts_;  // what they wait for keeps them
  std::deque<std::weak_ptr<tcp_answering>> answering_;
  meetings meetings_{*this};
  std::size_t unknown_ = 0;                       // connections that have not said who they are
  std::map<std::string, std::size_t> of_origin_;  // connections that came from there, and are here
  // Visitors that nobody has decided about, of each listener; also where the last one is decided
  // about.
  std::map<std::uint64_t, std::shared_ptr<std::atomic<std::size_t>>> undecided_;
  bool paused_ = false;
  bool closing_ = false;
  bool ended_ = false;  // the thread that owns the manager
  bool told_of_stranger_ = false;
  bool told_of_tcp_stranger_ = false;
  bool told_of_starving_ = false;
  std::uint64_t closed_for_a_reason_ = 0;
  bool told_of_crowd_ = false;
};

}  // namespace weft::wireup
