// SPDX-License-Identifier: Apache-2.0
// How a pair ends: the control plane is asked first why, and bytes that have come are delivered.
#include <sys/socket.h>

#include <utility>

#include "transports/tcp/pair.hpp"
#include "transports/tcp/transport.hpp"

namespace weft::transports::tcp {

namespace {

// The orderly end of a connection is followed by a good-bye over the control plane, the end of a
// process by the news of its death. A peer that closes the connection and stays is lost after this
// time.
constexpr auto grace = std::chrono::milliseconds(500);
// Reads of a leaving peer's bytes at a time, so that other peers have their turn.
constexpr unsigned last_reads = 4;

}  // namespace

void pair::judge_port() noexcept {
  switch (in_.from.now()) {
    case port::state::open:
      return;
    case port::state::ended:
      return end_soon(errc::peer_lost);
    case port::state::lost:
      return end(errc::peer_lost);
    case port::state::broken:
      return end(errc::protocol_error);
    case port::state::starved:
      return end(errc::out_of_memory);
  }
}

void pair::break_off() noexcept {
  if (socket_) end_soon(errc::peer_lost);
}

/// The control plane is first to say why a peer has ended: it left in good order, or has died.
void pair::end_soon(errc why) noexcept {
  hang_up();
  if (!has_ended()) {
    enter(state::ending);
    end_.why = why;
    end_.at = std::chrono::steady_clock::now();
    owner_.want_ticks();
  }
  if (out_.link) out_.link->connection_changed();
}

void pair::end(errc why) noexcept {
  hang_up();
  const bool is_news = state_ != state::ended;
  enter(state::ended);
  connector_.reset();
  end_.why = why;
  if (out_.link) out_.link->connection_changed();
  if (is_news) frame_sink_.on_broken(why);
}

void pair::hang_up() noexcept {
  if (!socket_) return;
  if (out_.link && out_.link->has_lent()) reset_on_close(fd());
  owner_.unwatch(*this);
  before_ = counted();
  fork_guard_.drop();
  socket_ = {};
}

bool pair::drain_peer() noexcept {
  // The peer may have been accepted, or have connected, have sent all its frames, and have left
  // meanwhile.
  if (state_ == state::connecting || is_expecting()) owner_.sockets().poll();
  if (state_ == state::connecting) return false;
  if (is_expecting() && owner_.is_connecting(*this)) return false;
  // Nothing more comes from a host that no longer answers.
  if (!is_up() || is_unresponsive(fd(), time_to_answer)) return true;
  const bool all_left = !out_.link || out_.link->write_rest();
  if (all_left && !std::exchange(out_.is_shut, true)) ::shutdown(fd(), SHUT_WR);
  read_last();
  return in_.from.now() != port::state::open && all_left;
}

/// A few reads, without waiting, however much the peer has sent or still sends.
void pair::read_last() noexcept {
  for (unsigned n = 0; n != last_reads && in_.from.now() == port::state::open; ++n)
    if (!read()) break;
}

void pair::forget() noexcept {
  in_.is_accepted = has_tried_ = false;
  connector_.reset();
  if (is_up()) {
    if (out_.link) out_.link->leave_rest();
    enter(state::ended);
    read_last();
  }
  hang_up();
  enter(state::ended);
  if (out_.link) out_.link->connection_changed();
}

bool pair::tick(std::chrono::steady_clock::time_point now) noexcept {
  switch (state_) {
    case state::ending:
      if (now - end_.at >= grace) end(end_.why);
      return state_ == state::ending;
    case state::connecting:
      connector_->hurry();
      return true;
    case state::up: {
      const bool waits = unread();
      if (silence_.look(fd(), waits, owner_.peer_timeout(), tcp_transport::tick_time))
        end(errc::peer_lost);
      return waits && is_up();
    }
    default:
      return false;
  }
}

}  // namespace weft::transports::tcp
