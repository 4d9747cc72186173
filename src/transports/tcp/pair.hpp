// SPDX-License-Identifier: Apache-2.0
// The TCP state of one peer.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/descriptors/close_on_fork.hpp"
#include "runtime/sleep/wait_set.hpp"
#include "transports/tcp/connecting/offer.hpp"
#include "transports/tcp/connecting/socket_connector.hpp"
#include "transports/tcp/link.hpp"
#include "transports/tcp/port.hpp"
#include "transports/tcp/silence_watch.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/tcp/stream_socket.hpp"

namespace weft::transports::tcp {

class tcp_transport;

/// Counted by the transport while it is set: work goes on without an operation.
class unfinished_work {
 public:
  explicit unfinished_work(tcp_transport& in) noexcept : in_(in) {}
  ~unfinished_work() { set(false); }
  unfinished_work(const unfinished_work&) = delete;
  unfinished_work& operator=(const unfinished_work&) = delete;

  void set(bool unfinished) noexcept;

 private:
  tcp_transport& in_;
  bool is_set_ = false;
};

/// One connection, for both directions: answers carry acknowledgements along, and one read serves
/// both. Each direction is still opened by its sender. The side that opens first listens; the other
/// side connects. If both begin at the same moment, the connection of the larger token is made and
/// the other is not. Owned by the transport; progress lock held only. docs/adr/0007-tcp.md.
///
///     none --open--> expecting --the peer has connected--> up
///       |               | both began, the peer's token       |
///       |               v is larger                          |
///       +--accept--> connecting --this side has connected----+
///
///     any of these --end_soon--> ending --the control plane has said nothing for a while--> ended
///     any of these --end, or forget (the control plane has said it)-----------------------> ended
class pair final : public runtime::fd_watcher, answer_sink {
 public:
  enum class state : std::uint8_t {
    none,
    expecting,   ///< the peer was offered to connect
    connecting,  ///< this side connects
    up,
    ending,  ///< there is no connection any more; the frame sink does not know that yet
    ended    ///< for good
  };

  pair(tcp_transport& owner, transports::frame_sink& peer, counterpart who) noexcept
      : owner_(owner), frame_sink_(peer), who_(std::move(who)), unfinished_(owner) {}
  ~pair();

  // How it is made: pair_connect.cpp.
  /// See transport::open. \param who the counterpart that the offer goes to
  std::unique_ptr<stream_link> open(wireup_message& offer, const counterpart& who);
  /// See transport::accept. \param who the counterpart that the offer came from
  std::string accept(const wireup_message& offer, const counterpart& who);
  void note(const wireup_message& p) noexcept;  // see transport::note
  /// Both ends have proven that the token was offered to the one that has connected.
  void connected(stream_socket made) noexcept;
  const token& offered() const noexcept { return token_; }
  bool has_offered() const noexcept { return token_ != token{}; }
  const counterpart& who() const noexcept { return who_; }
  /// What this side says of encryption.
  net::tls::stance stance() const noexcept { return stance_; }

  // How it moves bytes: pair.cpp.
  /// One try to write and read the socket. \return events
  unsigned look() noexcept;
  bool on_read_by_peer(std::uint32_t writes) noexcept override;
  void link_blocked() noexcept;
  void write_failed() noexcept;
  void link_ended() noexcept;
  std::uint32_t wanted_events() const noexcept;
  void rest() noexcept;
  /// The kernel does not tell of all that has come.
  bool has_input() const noexcept { return socket_.may_have_more(); }
  /// Whether the peer, or its host, has not taken all that was written: then the pair wants ticks.
  bool unread() const noexcept;
  std::string describe() const;
  /// So far, with connections that have ended. A system call.
  connection_metrics counted() const noexcept;

  // How it ends: pair_end.cpp.
  bool drain_peer() noexcept;  // see transport::drain_peer
  void forget() noexcept;      // see transport::forget
  /// Called by the transport's timer. \return whether the pair wants further ticks
  bool tick(std::chrono::steady_clock::time_point now) noexcept;
  /// Lent memory has to go back to the application although the peer has not read it.
  void break_off() noexcept;
  /// There is no memory for bytes that have to be sent.
  void starve() noexcept { end_soon(errc::out_of_memory); }
  /// The link has handed its last bytes to the transport; nothing is written after them.
  void fall_silent() noexcept { out_.is_shut = true; }

  bool is_expecting() const noexcept { return state_ == state::expecting; }
  bool is_up() const noexcept { return state_ == state::up; }
  bool has_ended() const noexcept { return state_ >= state::ending; }
  /// It has ended without ever having been a connection.
  bool never_came() const noexcept { return end_.why == errc::unreachable; }
  const std::string& how_it_ended() const noexcept { return end_.how; }  ///< may be empty
  int fd() const noexcept { return socket_.fd(); }
  stream_socket& socket() noexcept { return socket_; }
  /// Both ends are on this host: memory may be lent.
  bool stays_here() const noexcept { return stays_here_; }
  transports::frame_sink& frame_sink() const noexcept { return frame_sink_; }
  expected_memory& expected() noexcept { return in_.from.expected(); }
  tcp_transport& owner() const noexcept { return owner_; }
  /// Neither a link nor an accepted offer uses the pair any more.
  bool idle() const noexcept { return !out_.link && !in_.is_accepted && !has_tried_; }

  // State of the transport's polling order.
  bool active = false;
  std::uint32_t empty_polls = 0;

 private:
  /// The direction from this side to the peer.
  struct outward {
    stream_link* link = nullptr;  // owned by the protocol layer
    bool is_shut = false;         // nothing more is written
  };
  /// The other one.
  struct inward {
    explicit inward(answer_sink& answers) noexcept : from(answers) {}
    port from;
    bool is_accepted = false;  // the peer may send
  };
  struct ending {
    errc why = errc::ok;
    std::string how;                             // for people; may be empty
    std::chrono::steady_clock::time_point at{};  // when it began
  };

  void on_ready(std::uint32_t events) noexcept override;
  std::string connect_to(const offer& o, const counterpart& who);
  void not_connected(const std::string& why, std::string_view for_peer) noexcept;
  bool read() noexcept;
  void read_last() noexcept;
  void judge_port() noexcept;
  void hang_up() noexcept;
  void end(errc why) noexcept;
  void end_soon(errc why) noexcept;
  void enter(state s) noexcept;
  void review() noexcept;

  tcp_transport& owner_;
  transports::frame_sink& frame_sink_;
  counterpart who_;
  state state_ = state::none;
  unfinished_work unfinished_;
  token token_{};  // of this side's offer
  std::unique_ptr<socket_connector> connector_;
  bool has_tried_ = false;  // the addresses of an offer: that is done once
  net::tls::stance stance_{};
  stream_socket socket_;
  runtime::close_on_fork fork_guard_;  // the socket: no child keeps it
  connection_metrics before_;          // of connections that have ended
  bool stays_here_ = false;
  outward out_;
  inward in_{*this};
  silence_watch silence_;
  ending end_;
};

}  // namespace weft::transports::tcp
