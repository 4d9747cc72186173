// SPDX-License-Identifier: Apache-2.0
#include "wireup/manager_core.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <exception>
#include <weft/error.hpp>

#include "runtime/errno_hint.hpp"
#include "wireup/tcp_socket.hpp"

namespace weft::wireup {

using runtime::unique_fd;
using transports::wireup_message;

// Connections that were closed for a reason: so many are told of, one by one.
static constexpr std::uint64_t closed_each_told = 16;

connection_manager::impl::impl(identity self, handlers h, tcp_settings tcp)
    : loop_(std::make_shared<loop>([this] { give_up(); })),
      self_(std::move(self)),
      handlers_(std::move(h)),
      tcp_(std::move(tcp)) {
  self_.pid = ::getpid();
  self_.id = key_.id();
  locator where{socket_name_of(self_.id), {}};
  opened socket = listen_abstract(where.socket_name);
  if (!socket.fd)
    throw error(errc::system,
                fmt::format("cannot listen on a Unix socket: {}; {}", std::strerror(socket.error),
                            runtime::errno_hint(socket.error)));
  if (!tcp_.key.empty() && tcp_.listens) {
    std::uint16_t port = 0;
    const std::vector<std::string> hosts = addresses_of_host(tcp_.interfaces);
    unique_fd fd = listen_tcp(hosts, port);
    for (const std::string& host : hosts) where.places.push_back({host, port});
    tcp_front_ = new_front(std::move(fd), &impl::on_tcp_newcomer);
  }
  self_.locator = to_text(where);
  front_ = new_front(std::move(socket.fd), &impl::on_newcomer);
}

void connection_manager::impl::start_accepting() {
  loop_->post([this] {
    if (tcp_front_) tcp_front_->start();
    front_->start();
  });
}

/// While nothing runs on the thread yet, so that a failure reaches the caller.
std::shared_ptr<listener> connection_manager::impl::new_front(unique_fd socket,
                                                              void (impl::*take)(unique_fd,
                                                                                 std::uint64_t)) {
  return std::make_shared<listener>(
      *loop_, std::move(socket), [this, take](unique_fd who) { (this->*take)(std::move(who), 0); },
      [this](int fault) { notice_starved(fault); },
      take == &impl::on_newcomer ? &impl::say_no_room : nullptr);
}

connection_manager::impl::~impl() { end(); }

void connection_manager::impl::call_after(std::chrono::microseconds time, std::function<void()> f) {
  const auto timer = std::make_shared<asio::steady_timer>(loop_->io(), time);
  timer->async_wait([timer, f = std::move(f)](const asio::error_code& fault) {
    if (!fault) f();
  });
}

void connection_manager::impl::end() {
  if (!std::exchange(ended_, true)) loop_->finish([this] { shut_down(); });
}

void connection_manager::impl::shut_down() {
  closing_ = true;
  const failure why{errc::closed, "this context is closing"};
  if (front_) front_->close();
  if (tcp_front_) tcp_front_->close();
  end_what_is_under_way(why);
  while (!listeners_.empty()) close_listener(listeners_.begin()->first);
  for (const auto& channel : std::vector(channels_.begin(), channels_.end())) channel->retire(why);
}

void connection_manager::impl::end_what_is_under_way(const failure& why) {
  meetings_.cancel_all(why);
  for (const auto& weak : attempts_)
    if (const auto one = weak.lock()) one->fail(why);
  for (const auto& weak : answering_)
    if (const auto answering = weak.lock()) answering->close();
}

/// Nobody can tell which of the things under way has lost its way. Channels that carry wire-up
/// messages look after themselves.
void connection_manager::impl::give_up() {
  const failure why{errc::out_of_memory, "no memory for it"};
  end_what_is_under_way(why);
  for (const auto& channel : std::vector(channels_.begin(), channels_.end()))
    if (!channel->is_live()) channel->retire(why);
  if (closing_) return;
  if (front_) front_->start();
  if (tcp_front_) tcp_front_->start();
  for (const auto& [number, open] : listeners_) open.socket->start();
  balance();
  if (handlers_.on_exhausted) handlers_.on_exhausted();
}

// Connecting.

std::shared_ptr<connect_attempt> connection_manager::impl::new_attempt(hello says, connected done) {
  std::erase_if(attempts_, [](const auto& weak) { return weak.expired(); });
  auto made =
      std::make_shared<connect_attempt>(loop_, *this, tcp_, std::move(says), std::move(done));
  attempts_.push_back(made);
  return made;
}

void connection_manager::impl::connect(std::string locator, connected done) {
  hello says;
  says.who = self_;
  go_to(std::move(says), std::move(locator), std::move(done));
}

void connection_manager::impl::connect(locator where, job_key key, connected done) {
  loop_->post(
      [this, where = std::move(where), key = std::move(key), done = std::move(done)]() mutable {
        hello says;
        says.who = self_;
        new_attempt(std::move(says), std::move(done))->to_locator(where, std::move(key));
      });
}

void connection_manager::impl::connect_to_coordinator(std::string locator, std::string private_data,
                                                      connected done) {
  hello says;
  says.why = purpose::request_connection;
  says.who = self_;
  says.listener_number = coordinator_listener;
  says.private_data = std::move(private_data);
  go_to(std::move(says), std::move(locator), std::move(done));
}

void connection_manager::impl::go_to(hello says, std::string locator, connected done) {
  loop_->post([this, says = std::move(says), locator = std::move(locator),
               done = std::move(done)]() mutable {
    const auto where = parse_locator(locator);
    if (!where)
      return done(nullptr, {errc::invalid_argument,
                            fmt::format("'{}' is not the locator of a context", locator)});
    new_attempt(std::move(says), std::move(done))->to_locator(*where);
  });
}

void connection_manager::impl::request_connection(std::string address, std::string private_data,
                                                  connected done) {
  loop_->post([this, address = std::move(address), private_data = std::move(private_data),
               done = std::move(done)]() mutable {
    hello says;
    says.why = purpose::request_connection;
    says.who = self_;
    says.private_data = std::move(private_data);
    start_attempt(std::move(says), address, std::move(done));
  });
}

std::shared_ptr<connect_attempt> connection_manager::impl::start_attempt(hello says,
                                                                         const std::string& address,
                                                                         connected done) {
  listen_address where;
  try {
    if (says.private_data.size() > max_private_data)
      throw error(errc::invalid_argument,
                  fmt::format("a greeting of {} bytes is too long: at most {}",
                              says.private_data.size(), max_private_data));
    where = parse_address(address);
  } catch (const error& e) {
    done(nullptr, {e.kind(), e.what()});
    return nullptr;
  }
  auto made = new_attempt(std::move(says), std::move(done));
  made->to_listener(where);
  return made;
}

std::uint64_t connection_manager::impl::meet(std::string own, std::string other,
                                             std::string discriminator, connected done) {
  const std::uint64_t ticket = next_number_.fetch_add(1, std::memory_order_relaxed);
  loop_->post([this, ticket, own = std::move(own), other = std::move(other),
               discriminator = std::move(discriminator), done = std::move(done)]() mutable {
    meetings_.start(ticket, own, other, discriminator, std::move(done));
  });
  return ticket;
}

/// The thread that looks it up may outlive the manager, and must not call it.
void connection_manager::impl::look_up(const std::string& host,
                                       std::function<void(addresses_of_name)> done) {
  wireup::look_up(loop_, host, 0, std::move(done));
}

void connection_manager::impl::cancel_meet(std::uint64_t meeting) {
  loop_->post([this, meeting] {
    meetings_.cancel(meeting, {errc::stopped, "the meeting was cancelled"});
  });
}

// Channels.

void connection_manager::impl::on_wireup_message(const std::shared_ptr<peer_channel>& who,
                                                 wireup_message p) {
  if (handlers_.on_wireup_message) handlers_.on_wireup_message(who, std::move(p));
}

void connection_manager::impl::on_ended(const std::shared_ptr<peer_channel>& who,
                                        peer_channel::stage was, bool orderly,
                                        const std::string& why) {
  if (channels_.erase(who) != 0 && !who->origin().empty()) {
    const auto from = of_origin_.find(who->origin());
    if (--from->second == 0) of_origin_.erase(from);
  }
  if (was == peer_channel::stage::expecting) {
    --unknown_;
    balance();
  }
  if (!why.empty()) notice_closed(who->peer_name(), why);
  if (was == peer_channel::stage::live && handlers_.on_gone) handlers_.on_gone(who, orderly);
}

/// Anybody who reaches a listener can bring this about, as often as they like.
void connection_manager::impl::notice_closed(const std::string& whose, const std::string& why) {
  ++closed_for_a_reason_;
  if (closed_for_a_reason_ <= closed_each_told)
    return notice(fmt::format("the connection of {} was closed: {}", whose, why));
  if (std::has_single_bit(closed_for_a_reason_))
    notice(fmt::format("the connection of {} was closed: {} (number {}; not each is told any more)",
                       whose, why, closed_for_a_reason_));
}

void connection_manager::impl::notice(const std::string& text) {
  if (handlers_.on_notice) return handlers_.on_notice(text);
  std::fprintf(stderr, "weft: %s\n", text.c_str());
}

void connection_manager::impl::notice_starved(int fault) {
  if (std::exchange(told_of_starving_, true)) return;
  notice(
      fmt::format("cannot accept a connection: {}. Others wait for some seconds, and are turned "
                  "away then (said once)",
                  runtime::describe_errno(fault)));
}

/// To somebody who came through a Unix socket. Over TCP nothing is said before the key is known.
void connection_manager::impl::say_no_room(int socket) {
  const frame no = encode_refusal(
      "it has no file descriptor left for another connection; raise its limit on open files "
      "(ulimit -n)");
  static_cast<void>(send_packet(socket, frame_header::of(no), no.body, {}));
}

}  // namespace weft::wireup
