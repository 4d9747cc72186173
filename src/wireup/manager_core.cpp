// SPDX-License-Identifier: Apache-2.0
#include "wireup/manager_core.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <future>
#include <system_error>
#include <weft/error.hpp>

#include "runtime/cure.hpp"
#include "wireup/door_visit.hpp"
#include "wireup/tcp_socket.hpp"

namespace weft::wireup {

using runtime::unique_fd;
using transports::parcel;

namespace {

// More newcomers than this wait in the kernel's queue until some have said who they are.
constexpr std::size_t max_unknown = 64;
// More questioners than this, and the one that has been silent longest has to go.
constexpr std::size_t max_answering = 64;

std::shared_ptr<loop> start_loop(std::function<void()> recover) try {
  return std::make_shared<loop>(std::move(recover));
} catch (const std::system_error& e) {
  throw error(
      errc::system,
      fmt::format("cannot start the control plane: {}; check the limits on open files (ulimit -n), "
                  "threads (ulimit -u) and address space (ulimit -v)",
                  e.what()));
}

}  // namespace

connection_manager::impl::impl(identity self, handlers h, tcp_settings tcp)
    : loop_(start_loop([this] { give_up(); })),
      self_(std::move(self)),
      handlers_(std::move(h)),
      tcp_(std::move(tcp)) {
  self_.pid = ::getpid();
  locator where{random_socket_name(), {}};
  opened socket = listen_abstract(where.socket_name);
  if (!socket.fd)
    throw error(errc::system,
                fmt::format("cannot listen on a Unix socket: {}; {}", std::strerror(socket.error),
                            runtime::cure_for(socket.error)));
  if (!tcp_.key.empty() && tcp_.listens) {
    std::uint16_t port = 0;
    const std::vector<std::string> hosts = addresses_of_host(tcp_.interfaces);
    unique_fd fd = listen_tcp(hosts, port);
    for (const std::string& host : hosts) where.places.push_back({host, port});
    tcp_front_ = new_front(std::move(fd), &impl::on_tcp_newcomer);
  }
  self_.locator = to_text(where);
  front_ = new_front(std::move(socket.fd), &impl::on_newcomer);
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
      [this](int fault) { notice_starved(fault); });
}

connection_manager::impl::~impl() { end(); }

void connection_manager::impl::end() {
  if (!std::exchange(ended_, true)) loop_->finish([this] { shut_down(); });
}

void connection_manager::impl::shut_down() {
  closing_ = true;
  const std::string why = "this context is closing";
  if (front_) front_->close();
  if (tcp_front_) tcp_front_->close();
  end_what_is_under_way(why);
  while (!doors_.empty()) close_door(doors_.begin()->first);
  for (const auto& channel : std::vector(channels_.begin(), channels_.end())) channel->retire(why);
}

void connection_manager::impl::end_what_is_under_way(const std::string& why) {
  meetings_.cancel_all(why);
  for (const auto& weak : attempts_)
    if (const auto one = weak.lock()) one->fail(why);
  for (const auto& weak : answering_)
    if (const auto answering = weak.lock()) answering->close();
}

/// Nobody can tell which of the things under way has lost its way. Channels that carry parcels look
/// after themselves.
void connection_manager::impl::give_up() {
  const std::string why = "no memory for it";
  end_what_is_under_way(why);
  for (const auto& channel : std::vector(channels_.begin(), channels_.end()))
    if (!channel->is_live()) channel->retire(why);
  if (closing_) return;
  if (front_) front_->start();
  if (tcp_front_) tcp_front_->start();
  for (const auto& [number, open] : doors_)
    if (open.socket) open.socket->start();
  balance();
  if (handlers_.on_exhausted) handlers_.on_exhausted();
}

// Connecting.

std::shared_ptr<attempt> connection_manager::impl::new_attempt(hello says, connected done) {
  std::erase_if(attempts_, [](const auto& weak) { return weak.expired(); });
  auto made = std::make_shared<attempt>(loop_, *this, tcp_, std::move(says), std::move(done));
  attempts_.push_back(made);
  return made;
}

void connection_manager::impl::connect(std::string locator, connected done) {
  hello says;
  says.who = self_;
  go_to(std::move(says), std::move(locator), std::move(done));
}

void connection_manager::impl::knock_at_registrar(std::string locator, std::string greeting,
                                                  connected done) {
  hello says;
  says.why = purpose::knock;
  says.who = self_;
  says.door = registrar_door;
  says.greeting = std::move(greeting);
  go_to(std::move(says), std::move(locator), std::move(done));
}

void connection_manager::impl::go_to(hello says, std::string locator, connected done) {
  loop_->post([this, says = std::move(says), locator = std::move(locator),
               done = std::move(done)]() mutable {
    const auto where = parse_locator(locator);
    if (!where) return done(nullptr, fmt::format("'{}' is not the locator of a context", locator));
    new_attempt(std::move(says), std::move(done))->to_locator(*where);
  });
}

void connection_manager::impl::knock(std::string address, std::string greeting, connected done) {
  loop_->post([this, address = std::move(address), greeting = std::move(greeting),
               done = std::move(done)]() mutable {
    hello says;
    says.why = purpose::knock;
    says.who = self_;
    says.greeting = std::move(greeting);
    start_attempt(std::move(says), address, std::move(done));
  });
}

std::shared_ptr<attempt> connection_manager::impl::start_attempt(hello says,
                                                                 const std::string& address,
                                                                 connected done) {
  door_address where;
  try {
    if (says.greeting.size() > max_greeting)
      throw error(errc::invalid_argument,
                  fmt::format("a greeting of {} bytes is too long: at most {}",
                              says.greeting.size(), max_greeting));
    where = parse_address(address);
  } catch (const error& e) {
    done(nullptr, e.what());
    return nullptr;
  }
  auto made = new_attempt(std::move(says), std::move(done));
  made->to_door(where);
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

void connection_manager::impl::cancel_meet(std::uint64_t meeting) {
  loop_->post([this, meeting] { meetings_.cancel(meeting, "the meeting was cancelled"); });
}

// Doors.

unique_fd connection_manager::impl::open_socket(door_address& address) {
  if (address.is_unix()) return listen_at_name(address);
  if (address.how == door_address::scheme::tcp && tcp_.key.empty())
    throw error(errc::invalid_argument,
                fmt::format("nobody could come in at {} without a job key; set WEFT_JOB_KEY or "
                            "WEFT_JOB_KEY_FILE, the same on both sides",
                            to_text(address)));
  return listen_at_port(address);
}

std::uint64_t connection_manager::impl::open_door(const std::string& address,
                                                  std::string& actual_address) {
  door_address where = parse_address(address);
  unique_fd socket;
  try {
    socket = open_socket(where);
  } catch (const error& e) {
    if (e.kind() != errc::system || loop_->on_thread()) throw;
    // Perhaps a door of our own that was shut a moment ago: let that happen first. Bounded, because
    // a handler may be waiting for the caller.
    const auto done = std::make_shared<std::promise<void>>();
    loop_->post([done] { done->set_value(); });
    done->get_future().wait_for(std::chrono::milliseconds(200));
    socket = open_socket(where);
  }
  const std::uint64_t number = next_number_.fetch_add(1, std::memory_order_relaxed);
  actual_address = to_text(where);
  loop_->post([this, number, where, fd = std::move(socket)]() mutable {
    install_door(number, where, std::move(fd), false);
  });
  return number;
}

std::uint64_t connection_manager::impl::open_meeting_door(const std::string& address) {
  door_address where = parse_address(address);
  unique_fd socket = open_socket(where);
  const std::uint64_t number = next_number_.fetch_add(1, std::memory_order_relaxed);
  install_door(number, where, std::move(socket), true);
  return number;
}

void connection_manager::impl::install_door(std::uint64_t number, const door_address& address,
                                            unique_fd socket, bool for_meetings) {
  listener::accepted take;
  if (address.is_unix()) {
    take = [this, number](unique_fd who) { on_newcomer(std::move(who), number); };
  } else {
    take = [this, number](unique_fd who) { on_tcp_newcomer(std::move(who), number); };
  }
  const auto made = std::make_shared<listener>(*loop_, std::move(socket), std::move(take),
                                               [this](int fault) { notice_starved(fault); });
  doors_.emplace(number, door{made, for_meetings, address.is_unix(),
                              address.how == door_address::scheme::any});
  if (paused_ && address.is_unix()) made->pause();
  made->start();
}

void connection_manager::impl::close_door_later(std::uint64_t number) {
  loop_->post([this, number] { close_door(number); });
}

void connection_manager::impl::close_door(std::uint64_t number) {
  const auto at = doors_.find(number);
  if (at == doors_.end()) return;
  at->second.socket->close();
  doors_.erase(at);
}

// Newcomers.

void connection_manager::impl::on_newcomer(unique_fd socket, std::uint64_t door_number) try {
  const credentials who = credentials_of(socket.get());
  if (!who.same_user) {
    if (!std::exchange(told_of_stranger_, true))
      notice(
          fmt::format("{} of the user with id {} tried to connect and was turned away; only "
                      "processes of the same user may (said once)",
                      describe_process(who.pid), who.uid));
    return;
  }
  admit(std::move(socket), connection::medium::unix_packets, door_number);
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& e) {
  notice(fmt::format("a connection had to be dropped: {}", e.what()));
}

/// It may talk: as the kernel or the key has it, it is one of us.
void connection_manager::impl::admit(unique_fd socket, connection::medium m,
                                     std::uint64_t door_number) {
  const auto channel =
      std::make_shared<peer_channel>(loop_, *this, std::move(socket), m, door_number);
  channels_.insert(channel);
  ++unknown_;
  balance();
  channel->expect();
}

void connection_manager::impl::on_tcp_newcomer(unique_fd socket, std::uint64_t door_number) try {
  std::erase_if(answering_, [](const auto& weak) { return weak.expired(); });
  if (answering_.size() >= max_answering) {
    if (const auto oldest = answering_.front().lock()) oldest->close();
    answering_.pop_front();
  }
  tcp_answering::terms terms;
  terms.key = tcp_.key;
  const auto at = doors_.find(door_number);
  if (at != doors_.end() && at->second.answers)
    terms.answer = door_answer{door_number, parse_locator(self_.locator)->socket_name};
  terms.admit = [this, door_number](unique_fd who) {
    if (closing_) return;
    prepare_tcp(who.get(), tcp_.peer_timeout);
    admit(std::move(who), connection::medium::tcp, door_number);
  };
  terms.turn_away = [this](const std::string& who, const std::string& what) {
    if (std::exchange(told_of_tcp_stranger_, true)) return;
    notice(fmt::format("{} was turned away: {} (said once; others will be turned away silently)",
                       who, what));
  };
  const auto answering =
      std::make_shared<tcp_answering>(*loop_, std::move(socket), std::move(terms));
  answering_.push_back(answering);
  answering->start();
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& e) {
  notice(fmt::format("a connection had to be dropped: {}", e.what()));
}

void connection_manager::impl::balance() {
  const bool full = unknown_ >= max_unknown;
  if (full == paused_ || closing_) return;
  paused_ = full;
  const auto turn = [full](listener& l) { full ? l.pause() : l.resume(); };
  if (front_) turn(*front_);
  for (auto& [number, d] : doors_)
    if (d.is_unix) turn(*d.socket);
}

void connection_manager::impl::on_asking(const std::shared_ptr<peer_channel>& who) {
  channels_.insert(who);
}

void connection_manager::impl::on_hello(const std::shared_ptr<peer_channel>& who, hello h) {
  --unknown_;
  balance();
  if (closing_) return who->refuse("this context is closing");
  if (h.why != purpose::connect) {
    // Through its own socket, or through the common one after asking over TCP.
    const std::uint64_t number = who->door() != 0 ? who->door() : h.door;
    return on_knock(who, number, std::move(h));
  }
  if (who->door() != 0) return who->refuse("this is a door: knock");
  who->admit(self_);
}

void connection_manager::impl::on_knock(const std::shared_ptr<peer_channel>& who,
                                        std::uint64_t door_number, hello h) {
  const auto at = doors_.find(door_number);
  if (door_number == registrar_door && h.why == purpose::knock)
    return announce(door_number, who, std::move(h));
  if (at == doors_.end() || (who->door() == 0 && at->second.is_unix))
    return who->refuse("that door is shut");
  if (h.why == purpose::meet) {
    if (!at->second.for_meetings) return who->refuse("a listener is there: use connect, not meet");
    return meetings_.visit(door_number, who, h);
  }
  if (at->second.for_meetings)
    return who->refuse("somebody waits to meet there: use meet, not connect");
  announce(door_number, who, std::move(h));
}

void connection_manager::impl::announce(std::uint64_t door_number,
                                        const std::shared_ptr<peer_channel>& who, hello h) {
  if (!handlers_.on_visit) return who->refuse("nobody opens there");
  handlers_.on_visit(door_number,
                     std::make_unique<pending_visit>(loop_, who, self_, std::move(h.greeting)));
}

// Channels.

void connection_manager::impl::on_parcel(const std::shared_ptr<peer_channel>& who, parcel p) {
  if (handlers_.on_parcel) handlers_.on_parcel(who, std::move(p));
}

void connection_manager::impl::on_ended(const std::shared_ptr<peer_channel>& who,
                                        peer_channel::stage was, bool orderly,
                                        const std::string& why) {
  channels_.erase(who);
  if (was == peer_channel::stage::expecting) {
    --unknown_;
    balance();
  }
  if (!why.empty())
    notice(fmt::format("the connection of {} was closed: {}", who->peer_name(), why));
  if (was == peer_channel::stage::live && handlers_.on_gone) handlers_.on_gone(who, orderly);
}

void connection_manager::impl::notice(const std::string& text) {
  if (handlers_.on_notice) return handlers_.on_notice(text);
  std::fprintf(stderr, "weft: %s\n", text.c_str());
}

void connection_manager::impl::notice_starved(int fault) {
  if (std::exchange(told_of_starving_, true)) return;
  notice(
      fmt::format("cannot accept a connection: {}; it waits until that changes. Raise the limit "
                  "on open files (ulimit -n) (said once)",
                  std::strerror(fault)));
}

}  // namespace weft::wireup
