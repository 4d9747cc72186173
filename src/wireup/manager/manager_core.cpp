// SPDX-License-Identifier: Apache-2.0
#include "wireup/manager/manager_core.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <weft/error.hpp>

#include "runtime/os/errno_hint.hpp"
#include "wireup/sockets/tcp_socket.hpp"

namespace weft::wireup {

connection_manager::impl::impl(identity self, manager_events& to, tcp_settings tcp,
                               lane_number lanes, runtime::log_ptr reports)
    : loop_(std::make_shared<loop>([this] { give_up(); }, std::move(reports))),
      self_(std::move(self)),
      lanes_(lanes),
      events_(to),
      tcp_(std::move(tcp)),
      notices_(to),
      listeners_(
          *loop_,
          [this](unique_fd client, std::uint64_t number, bool is_unix) {
            on_client(std::move(client), number, is_unix);
          },
          [this](int fault) { notices_.starved(fault); }),
      meetings_(*this, loop_) {
  self_.pid = ::getpid();
  self_.id = key_.id();
  locator where{socket_name_of(self_.id), {}};
  listening socket = tcp_.names.listen(where.socket_name);
  if (!socket.fd)
    throw error(errc::system,
                fmt::format("cannot listen on a Unix socket: {}; {}", std::strerror(socket.error),
                            runtime::errno_hint(socket.error)));
  if (!tcp_.key.empty() && tcp_.listens) {
    std::uint16_t port = 0;
    const std::vector<std::string> hosts = addresses_of_host(tcp_.interfaces);
    unique_fd fd = listen_tcp(hosts, port);
    for (const std::string& host : hosts) where.places.push_back({host, port});
    listeners_.add_own({std::move(fd), {}, 0}, false);
  }
  self_.locator = to_text(where);
  if (tcp_.names.are_files()) {
    const std::string path = tcp_.names.folder().path + "/" + where.socket_name;
    name_watch_ =
        std::make_shared<name_watch>(*loop_, path, [this, path] { notices_.lost_name(path); });
  }
  listeners_.add_own(std::move(socket), true);
}

void connection_manager::impl::start_accepting() {
  loop_->post([this] {
    listeners_.start();
    if (name_watch_) name_watch_->start();
  });
}

connection_manager::impl::~impl() { end(false); }

void connection_manager::impl::call_after(std::chrono::microseconds time, std::function<void()> f) {
  const auto timer = std::make_shared<asio::steady_timer>(loop_->io(), time);
  timer->async_wait([timer, f = std::move(f)](const asio::error_code& fault) {
    if (!fault) f();
  });
}

void connection_manager::impl::call_later(std::chrono::microseconds time, std::function<void()> f) {
  if (closing_) return;
  later_.emplace(loop_->io(), time);
  later_->async_wait([f = std::move(f)](const asio::error_code& fault) {
    if (!fault) f();
  });
}

void connection_manager::impl::end(bool failed) {
  const bye_kind how = failed ? bye_kind::failed : bye_kind::orderly;
  if (!std::exchange(ended_, true)) loop_->end([this, how] { shut_down(how); });
}

void connection_manager::impl::shut_down(bye_kind how) {
  closing_ = true;
  const failure why{errc::closed, "this context is closing"};
  if (name_watch_) name_watch_->close();
  listeners_.close_all();
  later_.reset();
  end_what_is_under_way(why);
  for (const auto& channel : std::vector(channels_.begin(), channels_.end()))
    channel->retire(why, how);
}

void connection_manager::impl::end_what_is_under_way(const failure& why) {
  meetings_.cancel_all(why);
  for (const auto& weak : attempts_)
    if (const auto one = weak.lock()) one->fail(why);
  tcp_clients_.close_all();
}

/// There was no memory for work under way, and it is not known for which: so all attempts end.
/// Channels that are live end by themselves if they have to.
void connection_manager::impl::give_up() {
  // First, because it needs no memory, and may free some for what follows.
  if (!closing_) events_.on_exhausted();
  const failure why{errc::out_of_memory, "no memory for it"};
  end_what_is_under_way(why);
  for (const auto& channel : std::vector(channels_.begin(), channels_.end()))
    if (!channel->is_live()) channel->retire(why);
  if (closing_) return;
  listeners_.start();
  update_pause();
}

// --- connecting ------------------------------------------------------------------------------

std::shared_ptr<connect_attempt> connection_manager::impl::new_attempt(hello says,
                                                                       channel_ready done) {
  std::erase_if(attempts_, [](const auto& weak) { return weak.expired(); });
  auto made =
      std::make_shared<connect_attempt>(loop_, *this, tcp_, std::move(says), std::move(done));
  attempts_.push_back(made);
  return made;
}

identity connection_manager::impl::speaker(lane_number lane) const {
  identity one = self_;
  one.lane = lane;
  return one;
}

hello connection_manager::impl::greeting(lane_pair lanes) const {
  hello says;
  says.who = speaker(lanes.own);
  says.lane = lanes.other;
  return says;
}

void connection_manager::impl::connect(std::string locator, channel_ready done, lane_pair lanes) {
  connect_to(greeting(lanes), std::move(locator), std::move(done));
}

void connection_manager::impl::connect(locator where, job_key key, channel_ready done,
                                       lane_pair lanes) {
  loop_->post([this, where = std::move(where), key = std::move(key), done = std::move(done),
               lanes]() mutable {
    new_attempt(greeting(lanes), std::move(done))->to_locator(where, std::move(key));
  });
}

void connection_manager::impl::connect_to_coordinator(std::string locator, std::string private_data,
                                                      channel_ready done) {
  hello says;
  says.why = purpose::request_connection;
  says.who = self_;
  says.listener_number = coordinator_listener;
  says.private_data = std::move(private_data);
  connect_to(std::move(says), std::move(locator), std::move(done));
}

void connection_manager::impl::connect_to(hello says, std::string locator, channel_ready done) {
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
                                                  channel_ready done, lane_number lane,
                                                  std::shared_ptr<const net::tls::settings> by) {
  loop_->post([this, address = std::move(address), private_data = std::move(private_data),
               done = std::move(done), lane, by = std::move(by)]() mutable {
    hello says = greeting({lane, 0});
    says.why = purpose::request_connection;
    says.private_data = std::move(private_data);
    attempt(std::move(says), address, std::move(done), std::move(by));
  });
}

std::shared_ptr<connect_attempt> connection_manager::impl::start_attempt(hello says,
                                                                         const std::string& address,
                                                                         channel_ready done) {
  return attempt(std::move(says), address, std::move(done), {});
}

/// \param by of this connection alone; null: as the context has it for a meeting, else the key
std::shared_ptr<connect_attempt> connection_manager::impl::attempt(
    hello says, const std::string& address, channel_ready done,
    std::shared_ptr<const net::tls::settings> by) {
  listen_address where;
  try {
    if (says.private_data.size() > max_private_data)
      throw error(errc::invalid_argument,
                  fmt::format("private data of {} bytes is too long: at most {}",
                              says.private_data.size(), max_private_data));
    where = parse_address(address);
  } catch (const error& e) {
    done(nullptr, {e.kind(), e.what()});
    return nullptr;
  }
  if (const auto usual = usual_certificates(where); usual && says.why == purpose::meet)
    by = usual->now();
  auto made = new_attempt(std::move(says), std::move(done));
  made->to_listener(where, std::move(by));
  return made;
}

std::uint64_t connection_manager::impl::meet(std::string own, std::string other,
                                             std::string discriminator, channel_ready done,
                                             lane_number lane) {
  const std::uint64_t ticket = next_number_.fetch_add(1, std::memory_order_relaxed);
  loop_->post([this, ticket, own = std::move(own), other = std::move(other),
               discriminator = std::move(discriminator), done = std::move(done), lane]() mutable {
    meetings_.start(ticket, own, other, discriminator, std::move(done), lane);
  });
  return ticket;
}

void connection_manager::impl::cancel_meet(std::uint64_t meeting) {
  loop_->post([this, meeting] {
    meetings_.cancel(meeting, {errc::stopped, "the meeting was cancelled"});
  });
}

// --- channels --------------------------------------------------------------------------------

channel_events& connection_manager::impl::on_live(
    const std::shared_ptr<peer_channel>& who) noexcept {
  return events_.on_live(who);
}

void connection_manager::impl::release(const std::shared_ptr<peer_channel>& who,
                                       peer_channel::stage was, const std::string& notice) {
  if (channels_.erase(who) != 0 && !who->origin().empty()) limits_.remove(who->origin());
  if (was == peer_channel::stage::expecting) {
    limits_.remove_unknown();
    update_pause();
  }
  if (!notice.empty()) notices_.closed(who->peer_name(), notice);
  if (was == peer_channel::stage::live) events_.on_released(*who);
}

}  // namespace weft::wireup
