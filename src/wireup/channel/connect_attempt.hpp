// SPDX-License-Identifier: Apache-2.0
// One attempt to get a channel, from an address or a locator to the other side's answer.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "wireup/channel/peer_channel.hpp"
#include "wireup/sockets/address.hpp"
#include "wireup/tcp/tcp_asking.hpp"
#include "wireup/tcp/tcp_settings.hpp"

namespace weft::wireup {

/// Everything on the loop's thread. `done` is called once, unless `cancel` came first.
class connect_attempt : public std::enable_shared_from_this<connect_attempt> {
 public:
  /// \param tcp the settings for TCP; outlives this
  connect_attempt(std::shared_ptr<loop> on, peer_channel::owner& whose, const tcp_settings& tcp,
                  hello says, channel_ready done);

  /// \param key the job key of the listening context; empty: this side's
  void to_locator(const locator& where, job_key key = {});
  /// \param certificates in place of the key, for a tcp:// address; null: the key
  void to_listener(const listen_address& address,
                   std::shared_ptr<const net::tls::settings> certificates = {});

  /// Ends at once; `done` is not called.
  void cancel();
  /// Ends at once, and calls `done` with the failure.
  void fail(failure why);

 private:
  void connect();
  void ask(const tcp_place& where, tcp_proof by, tcp_asking::answered done);
  void prove_at(const tcp_place& where);
  void next_place(const failure& why);
  void take(proven_socket socket, connection::medium m);
  void on_channel(channel_ptr got, const failure& why);
  void on_another();
  void give_up(int error);
  void end(channel_ptr got, const failure& why);

  const std::shared_ptr<loop> loop_;
  peer_channel::owner& owner_;
  const tcp_settings& tcp_;
  job_key key_;
  std::shared_ptr<const net::tls::settings> certificates_;
  hello says_;
  channel_ready done_;
  asio::steady_timer retry_;
  std::chrono::steady_clock::time_point give_up_at_;
  std::shared_ptr<tcp_asking> asking_;
  std::shared_ptr<peer_channel> channel_;
  std::string socket_name_;
  std::optional<context_id> whom_;  // the context that is to answer; nothing: any context
  std::string where_;               // the caller's name for it
  int hang_ups_ = 0;                // of the other side, before it answered
  std::vector<tcp_place> places_;   // of the locator or the listener
  std::size_t next_place_ = 0;
  bool all_gone_ = true;  // no process has listened at the places tried so far
  std::string tried_;     // the places tried, and what happened there
  enum class route { locator, unix_listener, any_listener, tcp_listener } route_ = route::locator;
};

}  // namespace weft::wireup
