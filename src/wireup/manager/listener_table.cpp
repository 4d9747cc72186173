// SPDX-License-Identifier: Apache-2.0
#include "wireup/manager/listener_table.hpp"

#include <utility>

#include "wireup/auth/hello.hpp"
#include "wireup/base/frame.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

namespace {

/// To a client over a Unix socket. Over TCP nothing is said before the key is known.
void say_no_room(int socket) {
  const frame no = encode_refusal(
      "it has no file descriptor left for another connection; raise its limit on open files "
      "(ulimit -n)");
  static_cast<void>(send_packet(socket, frame_header::of(no), no.body, {}));
}

}  // namespace

std::shared_ptr<listener> listener_table::make(std::uint64_t number, unique_fd socket,
                                               bool is_unix) {
  return std::make_shared<listener>(
      loop_, std::move(socket),
      [this, number, is_unix](unique_fd client) { take_(std::move(client), number, is_unix); },
      warn_, is_unix ? &say_no_room : nullptr);
}

void listener_table::add_own(listening socket, bool is_unix) {
  own_.push_back({make(0, std::move(socket.fd), is_unix), std::move(socket.file), is_unix});
}

void listener_table::add(std::uint64_t number, const listen_address& address, listening socket,
                         bool for_meetings, lane_number lane,
                         std::shared_ptr<renewable_certificates> certificates) {
  const auto made = make(number, std::move(socket.fd), address.is_unix());
  entries_.emplace(number,
                   entry{made, std::move(socket.file), address.is_unix(), for_meetings, lane,
                         address.how == listen_address::scheme::any, std::move(certificates)});
  if (paused_ && address.is_unix()) made->pause();
  made->start();
}

const listener_table::entry* listener_table::find(std::uint64_t number) const {
  const auto at = entries_.find(number);
  return at == entries_.end() ? nullptr : &at->second;
}

void listener_table::close(std::uint64_t number) {
  const auto at = entries_.find(number);
  if (at == entries_.end()) return;
  at->second.socket->close();
  entries_.erase(at);
}

void listener_table::close_all() {
  for (entry& one : own_) {
    one.socket->close();
    one.file = {};
  }
  for (const auto& [number, one] : entries_) one.socket->close();
  entries_.clear();
}

void listener_table::start() {
  for (const entry& one : own_) one.socket->start();
  for (const auto& [number, one] : entries_) one.socket->start();
}

void listener_table::pause(bool wanted) {
  if (std::exchange(paused_, wanted) == wanted) return;
  const auto turn = [wanted](const entry& one) {
    if (one.is_unix) wanted ? one.socket->pause() : one.socket->resume();
  };
  for (const entry& one : own_) turn(one);
  for (const auto& [number, one] : entries_) turn(one);
}

}  // namespace weft::wireup
