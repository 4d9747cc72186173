// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/vi/vi_connection.hpp"

#include <utility>

namespace weft::vipl {

void vi_connection::begin(side s) noexcept {
  side_ = s;
  state_ = VIP_STATE_CONNECT_PENDING;
  epoch_ = nic_.next_epoch();
  heard_ = answer::none;
  peer_id_ = no_peer;
}

void vi_connection::end() noexcept {
  state_ = VIP_STATE_IDLE;
  epoch_ = nic_.next_epoch();
  peer_ = {};
  peer_id_ = no_peer;
}

void vi_connection::set_peer(const endpoint& to, const introduction& who) {
  peer_ = to;
  peer_id_ = to.id();
  remote_ = who;
  nic_.watch(to);
}

bool vi_connection::expect_answer_of(const endpoint& to) {
  nic_.watch(to);
  if (peer_id_ == no_peer) peer_id_ = to.id();
  return peer_id_ == to.id();
}

void vi_connection::refuse() noexcept {
  heard_ = answer::no;
  nic_.note_event();
}

void vi_connection::on_answer(const header& h, peer_id from,
                              std::span<const std::byte> rest) noexcept {
  if (side_ == side::requests && h.what == message::connected && heard_ == answer::none &&
      (peer_id_ == no_peer || peer_id_ == from)) {
    const std::optional<introduction> who = reader(rest).take<introduction>();
    if (!who || who->magic != wire_magic) return;
    remote_ = *who;
    peer_id_ = from;
    heard_ = answer::yes;
  } else if (side_ == side::accepts && from == peer_id_ && h.what == message::agreed &&
             heard_ == answer::none) {
    heard_ = answer::yes;
    complete();
  } else if (from == peer_id_) {
    heard_ = answer::no;
  }
  nic_.note_event();
}

std::optional<peer_attempt> vi_connection::take_attempt() noexcept {
  return std::exchange(attempt, std::nullopt);
}

}  // namespace weft::vipl
