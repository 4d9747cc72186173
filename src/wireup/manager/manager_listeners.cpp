// SPDX-License-Identifier: Apache-2.0
// The connection manager's listeners, and their clients.
#include <fmt/format.h>

#include <exception>
#include <future>
#include <new>
#include <weft/error.hpp>

#include "wireup/channel/pending_request.hpp"
#include "wireup/manager/manager_core.hpp"
#include "wireup/sockets/tcp_socket.hpp"

namespace weft::wireup {

// --- listeners -------------------------------------------------------------------------------

/// Of the context, for addresses that name none of their own.
std::shared_ptr<renewable_certificates> connection_manager::impl::usual_certificates(
    const listen_address& at) const {
  return at.how == listen_address::scheme::tcp ? tcp_.certificates : nullptr;
}

listening connection_manager::impl::open_socket(listen_address& address, bool is_certified) {
  if (is_certified && address.how != listen_address::scheme::tcp)
    throw error(errc::invalid_argument,
                fmt::format("certificates are for addresses tcp://host:port, not for {}",
                            to_text(address)));
  if (address.is_unix()) return listen_at_name(address, tcp_.names);
  if (address.how == listen_address::scheme::tcp && !is_certified &&
      tcp_.key_of_listeners().empty())
    throw error(errc::invalid_argument,
                fmt::format("no process could connect to {} without a job key; set WEFT_JOB_KEY or "
                            "WEFT_JOB_KEY_FILE, the same on both sides, or use certificates "
                            "(WEFT_TLS_CERTIFICATE)",
                            to_text(address)));
  return {listen_at_port(address), {}, 0};
}

std::uint64_t connection_manager::impl::open_listener(
    const std::string& address, std::string& actual_address,
    const std::function<void(std::uint64_t)>& known, lane_number lane,
    std::shared_ptr<renewable_certificates> certificates) {
  listen_address where = parse_address(address);
  listening socket;
  try {
    socket = open_socket(where, certificates != nullptr);
  } catch (const error& e) {
    if (e.kind() != errc::system || loop_->on_thread()) throw;
    // The address may belong to a listener of this context that was closed a moment ago: that
    // happens first. The wait is bounded, because a handler may be waiting for the caller.
    const auto done = std::make_shared<std::promise<void>>();
    loop_->post([done] { done->set_value(); });
    done->get_future().wait_for(std::chrono::milliseconds(200));
    socket = open_socket(where, certificates != nullptr);
  }
  const std::uint64_t number = next_number_.fetch_add(1, std::memory_order_relaxed);
  actual_address = to_text(where);
  if (known) known(number);
  loop_->post([this, number, where, lane, made = std::move(socket),
               by = std::move(certificates)]() mutable {
    listeners_.add(number, where, std::move(made), false, lane, std::move(by));
  });
  return number;
}

std::uint64_t connection_manager::impl::open_meeting_listener(const std::string& address,
                                                              lane_number lane) {
  listen_address where = parse_address(address);
  auto by = usual_certificates(where);
  listening socket = open_socket(where, by != nullptr);
  const std::uint64_t number = next_number_.fetch_add(1, std::memory_order_relaxed);
  listeners_.add(number, where, std::move(socket), true, lane, std::move(by));
  return number;
}

void connection_manager::impl::close_listener_later(std::uint64_t number) {
  loop_->post([this, number] { close_listener(number); });
}

void connection_manager::impl::close_listener(std::uint64_t number) {
  listeners_.close(number);
  limits_.forget_listener(number);
}

// --- clients ---------------------------------------------------------------------------------

void connection_manager::impl::on_client(unique_fd client, std::uint64_t listener_number,
                                         bool is_unix) try {
  if (is_unix) return on_unix_client(std::move(client), listener_number);
  on_tcp_client(std::move(client), listener_number);
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& e) {
  notices_.dropped(e.what());
}

void connection_manager::impl::on_unix_client(unique_fd client, std::uint64_t listener_number) {
  const credentials who = credentials_of(client.get());
  if (who.same_user)
    return admit({std::move(client)}, connection::medium::unix_packets, listener_number);
  if (tcp_.may_know_key(who))
    return admit({std::move(client), tcp_.admission_by_key()}, connection::medium::unix_packets,
                 listener_number);
  notices_.refused_user(who);
  loop_->disposal()->hang_up(client.release());
}

void connection_manager::impl::on_tcp_client(unique_fd client, std::uint64_t listener_number) {
  if (const auto wrong = tcp_answering::is_unwanted(client.get())) {
    if (!wrong->empty()) notices_.refused_tcp_client(client.get(), *wrong);
    return;
  }
  tcp_answering::terms terms;
  const auto* const at = listeners_.find(listener_number);
  terms.by.key = at ? tcp_.key_of_listeners() : tcp_.key;
  if (at && at->certificates)
    terms.by.certificates =
        at->certificates->now([this](const std::string& why) { notices_.stale_certificates(why); });
  if (at && at->tells_unix_socket)
    terms.answer = listener_answer{listener_number, parse_locator(self_.locator)->socket_name};
  terms.encryption = tcp_.encryption;
  terms.admit = [this, listener_number](proven_socket proven) {
    if (closing_) return;
    prepare_tcp(proven.fd.get(), tcp_.peer_timeout);
    admit(std::move(proven), connection::medium::tcp, listener_number);
  };
  terms.turn_away = [this](int socket, const std::string& what) {
    notices_.refused_tcp_client(socket, what);
  };
  tcp_clients_.start(*loop_, std::move(client), std::move(terms));
}

/// The client may say who it is: the kernel, or the job's key, vouches for its user.
void connection_manager::impl::admit(proven_socket client, connection::medium m,
                                     std::uint64_t listener_number) {
  const auto channel =
      std::make_shared<peer_channel>(loop_, *this, std::move(client), m, listener_number);
  const bool local = m == connection::medium::unix_packets;
  std::string origin = local ? fmt::format("process {}", channel->kernel_view().pid)
                             : host_of_peer(channel->peer_name());
  if (!limits_.add(origin, !local))
    return notices_.refused_crowd(channel->peer_name(), local ? connection_limits::most_of_process
                                                              : connection_limits::most_of_host);
  channels_.insert(channel);
  limits_.add_unknown();
  update_pause();
  channel->expect(std::move(origin));
}

void connection_manager::impl::update_pause() {
  if (!closing_) listeners_.pause(limits_.are_unknown_full());
}

void connection_manager::impl::on_asking(const std::shared_ptr<peer_channel>& who) {
  channels_.insert(who);
}

void connection_manager::impl::on_hello(const std::shared_ptr<peer_channel>& who, hello h) {
  limits_.remove_unknown();
  update_pause();
  // A context that looks for a rank may find the rank's next program instead; one that requests a
  // connection wants an answer.
  if (closing_ && h.why == purpose::connect) return who->retire({});
  if (closing_) return who->refuse("this context is closing");
  if (h.why != purpose::connect) {
    // It came by the listener's own socket, or by the context's after a question over TCP.
    const std::uint64_t number =
        who->listener_number() != 0 ? who->listener_number() : h.listener_number;
    return on_request(who, number, std::move(h));
  }
  if (who->listener_number() != 0) return who->refuse("this is a listener: connect by its address");
  admit_to_lane(who, h.lane);
}

void connection_manager::impl::on_dump_request(const std::shared_ptr<peer_channel>& who,
                                               dump_form form) {
  limits_.remove_unknown();
  update_pause();
  events_.on_dump_request(form, [weak = std::weak_ptr(who)](std::string text) {
    if (const auto channel = weak.lock()) channel->answer_dump(std::move(text));
  });
}

void connection_manager::impl::admit_to_lane(const std::shared_ptr<peer_channel>& who,
                                             lane_number lane) {
  if (lane < lanes_) return who->admit(speaker(lane));
  who->refuse(
      fmt::format("it has {} lane{} (options::lanes, WEFT_LANES), numbered from 0: there is no "
                  "lane {}",
                  lanes_, lanes_ == 1 ? "" : "s", lane),
      refusal_kind::no_such_lane);
}

void connection_manager::impl::on_request(const std::shared_ptr<peer_channel>& who,
                                          std::uint64_t listener_number, hello h) {
  const auto* const at = listeners_.find(listener_number);
  if (listener_number == coordinator_listener && h.why == purpose::request_connection)
    return announce(listener_number, 0, who, std::move(h));
  if (!at || (who->listener_number() == 0 && at->is_unix))
    return who->refuse("that listener is closed");
  // From this host it may have come by the context's own socket, or with the job's key.
  if (at->certificates && !who->certificate())
    return who->refuse("that listener wants a certificate");
  if (h.why == purpose::meet) {
    if (!at->for_meetings) return who->refuse("a listener is there: use connect, not meet");
    return meetings_.on_request(listener_number, who, h);
  }
  if (at->for_meetings) return who->refuse("a meeting is awaited there: use meet, not connect");
  announce(listener_number, at->lane, who, std::move(h));
}

void connection_manager::impl::announce(std::uint64_t listener_number, lane_number lane,
                                        const std::shared_ptr<peer_channel>& who, hello h) {
  std::shared_ptr<void> counted = limits_.hold_request(listener_number);
  if (!counted) return who->refuse("too many connection requests wait there; try again later");
  events_.on_connection_request(
      listener_number,
      std::make_unique<pending_request>(loop_, who, speaker(lane), std::move(h.private_data),
                                        std::move(counted)));
}

}  // namespace weft::wireup
