// SPDX-License-Identifier: Apache-2.0
// The TCP state of one peer.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/descriptors/close_on_fork.hpp"
#include "runtime/sleep/wait_set.hpp"
#include "transports/tcp/link.hpp"
#include "transports/tcp/port.hpp"
#include "transports/tcp/socket_connector.hpp"

namespace weft::transports::tcp {

class tcp_transport;

/// One connection, for both directions: answers carry acknowledgements along, and one read serves
/// both. Each direction is still opened by its sender. The side that opens first listens; the other
/// side connects. If both begin at the same moment, the connection of the larger token is made and
/// the other is not. Owned by the transport; progress lock held only. docs/adr/0007-tcp.md.
class pair final : public runtime::fd_watcher, answer_sink {
 public:
  enum class stage : std::uint8_t {
    none,
    expecting,   ///< the peer was offered to connect
    connecting,  ///< this side connects
    up,
    ended  ///< for good
  };

  pair(tcp_transport& owner, transports::frame_sink& peer, counterpart who) noexcept
      : owner_(owner), frame_sink_(peer), who_(std::move(who)) {}
  ~pair();

  /// See transport::open. \param who the counterpart that the offer goes to
  std::unique_ptr<stream_link> open(wireup_message& offer, const counterpart& who);
  /// See transport::accept. \param who the counterpart that the offer came from
  std::string accept(const wireup_message& offer, const counterpart& who);
  void note(const wireup_message& p) noexcept;  // see transport::note

  /// The peer has connected, and has proven that the token was offered to it.
  void connected(unique_fd fd) noexcept;
  const token& offered() const noexcept { return token_; }
  bool has_offered() const noexcept { return token_ != token{}; }
  const counterpart& who() const noexcept { return who_; }

  /// One try to write and read the socket. \return events
  unsigned look() noexcept;
  bool drain_peer() noexcept;  // see transport::drain_peer
  void forget() noexcept;      // see transport::forget
  /// Called by the transport's timer. \return whether the pair wants further ticks
  bool tick(std::chrono::steady_clock::time_point now) noexcept;

  bool on_read_by_peer(std::uint32_t writes) noexcept override;

  // For the link:
  void link_ended() noexcept;
  void link_blocked() noexcept;
  void write_failed() noexcept;
  /// Lent memory has to go back to the application although the peer has not read it.
  void break_off() noexcept;
  /// There is no memory for bytes that have to be sent.
  void starve() noexcept { end_soon(errc::out_of_memory); }
  /// The link has handed its last bytes to the transport; nothing is written after them.
  void fall_silent() noexcept { said_all_ = true; }

  stage now() const noexcept { return stage_; }
  /// It has ended without ever having been a connection.
  bool never_came() const noexcept { return ended_why_ == errc::unreachable; }
  const std::string& how_it_ended() const noexcept { return how_; }  ///< for people; may be empty
  int fd() const noexcept { return socket_.get(); }
  /// Both ends are on this host: memory may be lent.
  bool stays_here() const noexcept { return stays_here_; }
  transports::frame_sink& frame_sink() const noexcept { return frame_sink_; }
  expected_memory& expected() noexcept { return port_.expected(); }
  tcp_transport& owner() const noexcept { return owner_; }
  /// Neither a link nor an accepted offer uses the pair any more.
  bool idle() const noexcept { return !link_ && !accepted_ && !spent_; }
  std::uint32_t wanted_events() const noexcept;
  void rest() noexcept;
  /// Whether the peer, or its host, has not taken all that was written: then the pair wants ticks.
  bool unread() const noexcept;
  std::string describe() const;

  // State of the transport's polling order.
  bool active = false;
  std::uint32_t empty_polls = 0;

 private:
  void on_ready(std::uint32_t events) noexcept override;
  static bool is_plausible(const address& at, const counterpart& who);
  std::string connect_to(const wireup_message& offer, const offer_head& head,
                         const counterpart& who);
  bool read() noexcept;
  void hang_up() noexcept;
  void end(errc why) noexcept;
  void end_soon(errc why) noexcept;
  void not_connected(const std::string& why, std::string_view for_peer) noexcept;
  std::string why_never() const;
  void judge_port() noexcept;
  void enter(stage s) noexcept;
  void review() noexcept;

  tcp_transport& owner_;
  transports::frame_sink& frame_sink_;
  counterpart who_;
  stage stage_ = stage::none;
  token token_{};  // of this side's offer
  std::unique_ptr<socket_connector> connector_;
  unique_fd socket_;
  runtime::close_on_fork fork_guard_;  // the socket: no child keeps it
  stream_link* link_ = nullptr;        // owned by the protocol layer
  port port_{*this};
  bool accepted_ = false;  // the peer may send
  bool said_all_ = false;  // this side has shut its direction down
  bool spent_ = false;     // it has tried the addresses of an offer: that is done once
  bool reported_ = false;  // the frame sink knows that the pair is broken
  bool stays_here_ = false;
  bool unfinished_ = false;  // counted by the transport: work goes on without an operation
  bool patient_ = false;  // the peer reads nothing: this side watches for silence, not the kernel
  unsigned doubts_ = 0;   // ticks in a row at which an answer was overdue
  std::optional<std::chrono::steady_clock::time_point> ended_at_;  // end_soon
  errc ended_why_ = errc::ok;
  std::string how_;
};

}  // namespace weft::transports::tcp
