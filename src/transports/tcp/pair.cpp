// SPDX-License-Identifier: Apache-2.0
// A pair while it is up: reading, and what its link cannot write at once.
#include "transports/tcp/pair.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <utility>

#include "transports/tcp/transport.hpp"

namespace weft::transports::tcp {

void unfinished_work::set(bool unfinished) noexcept {
  if (unfinished != std::exchange(is_set_, unfinished)) in_.count_unfinished(unfinished);
}

pair::~pair() { hang_up(); }

void pair::enter(state s) noexcept {
  state_ = s;
  review();
}

void pair::review() noexcept {
  unfinished_.set(state_ == state::expecting || state_ == state::connecting ||
                  (is_up() && out_.link && out_.link->blocked()));
}

void pair::on_ready(std::uint32_t /*events*/) noexcept { owner_.activate(*this); }

std::uint32_t pair::wanted_events() const noexcept {
  return out_.link && out_.link->blocked() ? std::uint32_t{EPOLLIN} | EPOLLOUT
                                           : std::uint32_t{EPOLLIN};
}

unsigned pair::look() noexcept {
  unsigned events = 0;
  if (out_.link && out_.link->blocked()) {
    if (out_.link->retry()) ++events;
    review();
  }
  if (!is_up()) return events + 1;
  if (read()) {
    ++events;
    judge_port();
  }
  return events;
}

/// Reads once, and answers the peer's writes that have been read.
bool pair::read() noexcept {
  const bool came = in_.from.read(socket_, frame_sink_, owner_.scratch());
  if (const std::uint32_t n = in_.from.take_owed(); n != 0 && out_.link) out_.link->owe_answers(n);
  return came;
}

bool pair::on_read_by_peer(std::uint32_t writes) noexcept {
  for (; writes != 0 && is_up() && out_.link; --writes)
    if (!out_.link->was_read()) return false;
  return true;
}

void pair::link_blocked() noexcept {
  review();
  owner_.activate(*this);
  owner_.want_ticks();
}

/// The receiving end finds the reason, and delivers the frames that arrived before.
void pair::write_failed() noexcept {
  review();
  owner_.activate(*this);
}

void pair::link_ended() noexcept {
  out_.link = nullptr;
  review();
  owner_.forget_if_idle(*this);
}

bool pair::unread() const noexcept {
  return (out_.link && out_.link->blocked()) || unacknowledged(fd()) != 0;
}

void pair::rest() noexcept {
  socket_.rest();
  in_.from.rest();
  if (out_.link) out_.link->rest();
}

connection_metrics pair::counted() const noexcept {
  connection_metrics all = before_;
  if (!socket_) return all;
  all.segments_sent_again += segments_sent_again(socket_.fd());
  all.connections_encrypted += socket_.is_encrypted() ? 1 : 0;
  all.bytes_sealed += socket_.bytes_sealed();
  all.bytes_opened += socket_.bytes_opened();
  return all;
}

std::string pair::describe() const {
  if (has_ended()) return "the connection has ended";
  if (!is_up())
    return net::tls::wants(stance_) ? "being connected, and will be encrypted" : "being connected";
  const auto here = address::of_socket(fd(), false), there = address::of_socket(fd(), true);
  const std::string ends =
      here && there ? fmt::format("{} to {}", here->text(), there->text()) : "connected";
  return fmt::format("{}, {}", ends, net::tls::describe(socket_.is_encrypted(), stance_));
}

}  // namespace weft::transports::tcp
