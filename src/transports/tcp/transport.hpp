// SPDX-License-Identifier: Apache-2.0
// The TCP transport, between processes of any hosts.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/transport/services.hpp>

#include "transports/tcp/connecting/acceptor.hpp"
#include "transports/tcp/factory.hpp"
#include "transports/tcp/lending_pipe.hpp"
#include "transports/tcp/lingering_sockets.hpp"
#include "transports/tcp/pair.hpp"

namespace weft::transports::tcp {

/// All pairs of a context. Active sockets are read directly, in every pass or every few; the others
/// are in an epoll set of the transport, whose one descriptor the engine's wait sets watch: a
/// polling thread pays a memory load for all of them (docs/adr/0007-tcp.md). No port is opened
/// before the first offer to a peer, and no other socket before the first connection to one.
class tcp_transport final : public pollable, public transport, private offers {
 public:
  tcp_transport(services& e, settings s);
  ~tcp_transport() override;

  pollable* poll_hook() noexcept override { return this; }
  const transports::traits& traits() const noexcept override { return traits_; }
  std::string reach(bool is_self) const override;
  std::unique_ptr<link> open(frame_sink& from, const counterpart& who,
                             wireup_message& offer) override;
  std::string accept(frame_sink& to, const counterpart& who, wireup_message offer,
                     wireup_message& answer) override;
  void note(frame_sink& from, wireup_message p) override;
  bool drain_peer(frame_sink& from) noexcept override;
  void forget(frame_sink& from) noexcept override;
  std::string explain_frames(std::size_t size) const override;
  std::vector<explained_way> explain_rest(const rest_question& q) const override;
  void add_to(metrics& m) const noexcept override;
  void add_peer_to(const frame_sink& peer, peer_metrics& m) const noexcept override;
  std::string describe() const override;
  std::string describe(const frame_sink& peer) const override;

  unsigned poll() noexcept override;
  bool has_work() noexcept override;
  void wake_peer() noexcept override { flush(); }
  int handle() const noexcept override { return sockets_->descriptor(); }
  void on_ready() noexcept override;
  void arm() noexcept override;
  void flush() noexcept override;

  // For pairs and links:
  runtime::wait_set& sockets() noexcept { return *sockets_; }
  /// Addresses at which the peer is to connect for that link, best first.
  std::vector<address> listen(std::uint32_t link);
  /// What this side says of encryption with that peer. Says once that it cannot encrypt.
  net::tls::stance stance_towards(const counterpart& who);
  /// Made at the first connection that is encrypted. \throws weft::error
  const net::tls::settings& encryption();
  std::chrono::seconds peer_timeout() const noexcept { return settings_.peer_timeout; }
  std::span<std::byte> scratch() noexcept { return {scratch_.get(), port::scratch_bytes}; }
  lending_pipe& pipe() noexcept { return pipe_; }
  /// Until when peers may read what is lent to them when this side ends. Peers that end together
  /// have the same time: the progress lock is held meanwhile.
  std::chrono::steady_clock::time_point end_of_reading() noexcept;
  /// Counts passes, so that a link recognizes a burst: frames posted without a pass in between.
  const std::uint32_t& passes() const noexcept { return passes_; }
  bool passes_soon() const noexcept { return engine_.passes_soon(); }
  bool looked_after() const noexcept { return engine_.has_progress_thread(); }
  void count_failed_handshakes(std::uint64_t n) noexcept { handshakes_failed_ += n; }
  void flush_later(stream_link& l) noexcept;
  void activate(pair& p) noexcept;
  void unwatch(pair& p) noexcept;
  void count_unfinished(bool more) noexcept;
  void forget_if_idle(pair& p) noexcept;
  bool is_connecting(const pair& p) const noexcept { return acceptor_.has_answered(p.offered()); }
  void drop_flush(stream_link& l) noexcept;
  /// For a link that ends and has not written all.
  void linger_on(int fd, std::span<const std::byte> bytes) noexcept;
  static constexpr std::chrono::milliseconds tick_time{250};
  /// Has pairs ticked, soon and for as long as one of them wants it.
  void want_ticks() noexcept;

 private:
  struct clock final : runtime::fd_watcher {
    tcp_transport* in = nullptr;
    unique_fd fd;
    bool running = false;
    void on_ready(std::uint32_t events) noexcept override;
  };

  pair& pair_of(frame_sink& peer, const counterpart& who);
  std::optional<offered_peer> offered(const token& shown) const noexcept override;
  const net::tls::settings* encryption_of_offers() noexcept override;
  void take(const token& shown, stream_socket made) noexcept override;
  void turned_away() noexcept override {
    engine_.report(log_level::warning,
                   "a process connected to the TCP transport without having been offered to, and "
                   "was turned away (said once; context::describe() counts them)");
  }
  pair* pair_offered(const token& shown) const noexcept;
  unsigned poll_active() noexcept;
  bool deactivate(pair& p) noexcept;
  void make_clock();
  void tick() noexcept;
  void update_busy() noexcept;

  services& engine_;
  const settings settings_;
  const transports::traits traits_;
  const std::unique_ptr<runtime::wait_set> sockets_;  // idle ones, and those being connected
  std::unique_ptr<std::byte[]> scratch_;  // memory for reads, used by one pair at a time
  std::optional<net::tls::settings> encryption_;
  bool has_said_bare_ = false;
  lending_pipe pipe_;
  std::chrono::steady_clock::time_point reading_began_{};
  lingering_sockets lingering_sockets_;
  acceptor acceptor_;
  clock clock_;
  std::map<const frame_sink*, std::unique_ptr<pair>> pairs_;
  connection_metrics gone_;              // of pairs that are no more
  std::uint64_t handshakes_failed_ = 0;  // of this side's connecting
  std::vector<pair*> active_;
  std::vector<stream_link*> to_flush_;
  std::uint32_t passes_ = 0;
  std::uint32_t unfinished_ = 0;  // pairs
  bool ready_ = false;            // events wait in sockets_
};

}  // namespace weft::transports::tcp
