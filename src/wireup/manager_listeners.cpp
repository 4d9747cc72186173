// SPDX-License-Identifier: Apache-2.0
// The connection manager's listeners, and who comes in.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <future>
#include <new>
#include <weft/error.hpp>

#include "wireup/incoming_request.hpp"
#include "wireup/manager_core.hpp"
#include "wireup/tcp_socket.hpp"

namespace weft::wireup {

using runtime::unique_fd;

namespace {

// More newcomers than this wait in the kernel's queue until some have said who they are.
constexpr std::size_t max_unknown = 64;
// One process, or one other host, with more connections than this is turned away: each of them has
// a descriptor of ours.
constexpr std::size_t most_of_process = 1024;
constexpr std::size_t most_of_host = 4096;
// More visitors than this may not wait at a listener for somebody to decide about them.
constexpr std::size_t max_undecided = 1024;
// More questioners than this, and one has to go. If it was one of us, it tries again.
constexpr std::size_t max_answering = 64;

}  // namespace

// Listeners.

unique_fd connection_manager::impl::open_socket(listen_address& address) {
  if (address.is_unix()) return listen_at_name(address);
  if (address.how == listen_address::scheme::tcp && tcp_.key.empty())
    throw error(errc::invalid_argument,
                fmt::format("nobody could come in at {} without a job key; set WEFT_JOB_KEY or "
                            "WEFT_JOB_KEY_FILE, the same on both sides",
                            to_text(address)));
  return listen_at_port(address);
}

std::uint64_t connection_manager::impl::open_listener(
    const std::string& address, std::string& actual_address,
    const std::function<void(std::uint64_t)>& known) {
  listen_address where = parse_address(address);
  unique_fd socket;
  try {
    socket = open_socket(where);
  } catch (const error& e) {
    if (e.kind() != errc::system || loop_->on_thread()) throw;
    // Perhaps a listener of our own that was shut a moment ago: let that happen first. Bounded,
    // because a handler may be waiting for the caller.
    const auto done = std::make_shared<std::promise<void>>();
    loop_->post([done] { done->set_value(); });
    done->get_future().wait_for(std::chrono::milliseconds(200));
    socket = open_socket(where);
  }
  const std::uint64_t number = next_number_.fetch_add(1, std::memory_order_relaxed);
  actual_address = to_text(where);
  if (known) known(number);
  loop_->post([this, number, where, fd = std::move(socket)]() mutable {
    install_door(number, where, std::move(fd), false);
  });
  return number;
}

std::uint64_t connection_manager::impl::open_meeting_listener(const std::string& address) {
  listen_address where = parse_address(address);
  unique_fd socket = open_socket(where);
  const std::uint64_t number = next_number_.fetch_add(1, std::memory_order_relaxed);
  install_door(number, where, std::move(socket), true);
  return number;
}

void connection_manager::impl::install_door(std::uint64_t number, const listen_address& address,
                                            unique_fd socket, bool for_meetings) {
  listener::accepted take;
  if (address.is_unix()) {
    take = [this, number](unique_fd who) { on_newcomer(std::move(who), number); };
  } else {
    take = [this, number](unique_fd who) { on_tcp_newcomer(std::move(who), number); };
  }
  const auto made = std::make_shared<listener>(
      *loop_, std::move(socket), std::move(take), [this](int fault) { notice_starved(fault); },
      address.is_unix() ? &impl::say_no_room : nullptr);
  listeners_.emplace(number, listener_entry{made, for_meetings, address.is_unix(),
                                            address.how == listen_address::scheme::any});
  if (paused_ && address.is_unix()) made->pause();
  made->start();
}

void connection_manager::impl::close_listener_later(std::uint64_t number) {
  loop_->post([this, number] { close_listener(number); });
}

void connection_manager::impl::close_listener(std::uint64_t number) {
  const auto at = listeners_.find(number);
  if (at == listeners_.end()) return;
  at->second.socket->close();
  listeners_.erase(at);
  undecided_.erase(number);
}

// Newcomers.

void connection_manager::impl::on_newcomer(unique_fd socket, std::uint64_t listener_number) try {
  const credentials who = credentials_of(socket.get());
  if (!who.same_user) {
    if (!std::exchange(told_of_stranger_, true))
      notice(fmt::format("{} tried to connect and was turned away: {} (said once)",
                         describe_process(who.pid), why_no_user_of_ours(who)));
    // It may have sent descriptors already.
    const unique_fd over(socket.release(), loop_->disposal());
    return;
  }
  admit(std::move(socket), connection::medium::unix_packets, {}, listener_number);
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& e) {
  notice(fmt::format("a connection had to be dropped: {}", e.what()));
}

/// It may talk: as the kernel or the key has it, it is one of us.
void connection_manager::impl::admit(unique_fd socket, connection::medium m, const admission& known,
                                     std::uint64_t listener_number) {
  const auto channel =
      std::make_shared<peer_channel>(loop_, *this, std::move(socket), m, known, listener_number);
  const bool local = m == connection::medium::unix_packets;
  std::string origin = local ? fmt::format("process {}", channel->kernel_view().pid)
                             : host_of_peer(channel->peer_name());
  std::size_t& there = of_origin_[origin];
  if (there == (local ? most_of_process : most_of_host)) {
    if (!std::exchange(told_of_crowd_, true))
      notice(fmt::format("{} has {} connections here; more are turned away (said once)",
                         channel->peer_name(), there));
    return;
  }
  ++there;
  channels_.insert(channel);
  ++unknown_;
  balance();
  channel->expect(std::move(origin));
}

void connection_manager::impl::on_tcp_newcomer(unique_fd socket,
                                               std::uint64_t listener_number) try {
  if (const auto wrong = tcp_answering::is_nobody(socket.get())) {
    if (!wrong->empty()) notice_tcp_stranger(socket.get(), *wrong);
    return;
  }
  std::erase_if(answering_, [](const auto& weak) { return weak.expired(); });
  if (answering_.size() >= max_answering) {
    // Of those who have shown least, the one that has been there for longest.
    const auto shown = [](const auto& weak) {
      const auto one = weak.lock();
      return one ? one->shown() : tcp_answering::standing::silent;
    };
    const auto goes = std::ranges::min_element(answering_, {}, shown);
    if (const auto one = goes->lock()) one->close();
    answering_.erase(goes);
  }
  tcp_answering::terms terms;
  terms.key = tcp_.key;
  const auto at = listeners_.find(listener_number);
  if (at != listeners_.end() && at->second.answers)
    terms.answer = listener_answer{listener_number, parse_locator(self_.locator)->socket_name};
  terms.admit = [this, listener_number](unique_fd who, const admission& known) {
    if (closing_) return;
    prepare_tcp(who.get(), tcp_.peer_timeout);
    admit(std::move(who), connection::medium::tcp, known, listener_number);
  };
  terms.turn_away = [this](int who, const std::string& what) { notice_tcp_stranger(who, what); };
  const auto answering =
      std::make_shared<tcp_answering>(*loop_, std::move(socket), std::move(terms));
  answering_.push_back(answering);
  answering->start();
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& e) {
  notice(fmt::format("a connection had to be dropped: {}", e.what()));
}

void connection_manager::impl::notice_tcp_stranger(int socket, std::string_view what) {
  if (std::exchange(told_of_tcp_stranger_, true)) return;
  notice(fmt::format("{} was turned away: {} (said once; others will be turned away silently)",
                     name_of_peer(socket), what));
}

void connection_manager::impl::balance() {
  const bool full = unknown_ >= max_unknown;
  if (full == paused_ || closing_) return;
  paused_ = full;
  const auto turn = [full](listener& l) { full ? l.pause() : l.resume(); };
  if (front_) turn(*front_);
  for (auto& [number, d] : listeners_)
    if (d.is_unix) turn(*d.socket);
}

void connection_manager::impl::on_asking(const std::shared_ptr<peer_channel>& who) {
  channels_.insert(who);
}

void connection_manager::impl::on_hello(const std::shared_ptr<peer_channel>& who, hello h) {
  --unknown_;
  balance();
  // Who looks for a rank may find its next program instead; who knocks wants an answer.
  if (closing_ && h.why == purpose::connect) return who->retire({});
  if (closing_) return who->refuse("this context is closing");
  if (h.why != purpose::connect) {
    // Through its own socket, or through the common one after asking over TCP.
    const std::uint64_t number =
        who->listener_number() != 0 ? who->listener_number() : h.listener_number;
    return on_knock(who, number, std::move(h));
  }
  if (who->listener_number() != 0) return who->refuse("this is a listener: connect by its address");
  who->admit(self_);
}

void connection_manager::impl::on_knock(const std::shared_ptr<peer_channel>& who,
                                        std::uint64_t listener_number, hello h) {
  const auto at = listeners_.find(listener_number);
  if (listener_number == coordinator_listener && h.why == purpose::request_connection)
    return announce(listener_number, who, std::move(h));
  if (at == listeners_.end() || (who->listener_number() == 0 && at->second.is_unix))
    return who->refuse("that door is shut");
  if (h.why == purpose::meet) {
    if (!at->second.for_meetings) return who->refuse("a listener is there: use connect, not meet");
    return meetings_.on_request(listener_number, who, h);
  }
  if (at->second.for_meetings)
    return who->refuse("somebody waits to meet there: use meet, not connect");
  announce(listener_number, who, std::move(h));
}

void connection_manager::impl::announce(std::uint64_t listener_number,
                                        const std::shared_ptr<peer_channel>& who, hello h) {
  if (!handlers_.on_connection_request) return who->refuse("nobody opens there");
  auto& count = undecided_[listener_number];
  if (!count) count = std::make_shared<std::atomic<std::size_t>>(0);
  if (*count >= max_undecided) return who->refuse("too many wait at that door; try again later");
  ++*count;
  const std::shared_ptr<void> counted(count.get(), [count](void*) { --*count; });
  handlers_.on_connection_request(
      listener_number,
      std::make_unique<pending_request>(loop_, who, self_, std::move(h.private_data), counted));
}

}  // namespace weft::wireup
