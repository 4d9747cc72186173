// SPDX-License-Identifier: Apache-2.0
#include "wireup/channel/connect_attempt.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "runtime/os/errno_hint.hpp"
#include "wireup/sockets/tcp_socket.hpp"

namespace weft::wireup {

using namespace std::chrono_literals;

namespace {
// Before the next try, when a listener's queue is full or this process has no free descriptor.
constexpr auto retry_time = 10ms;
constexpr auto time_to_connect = 5s;
constexpr int most_hang_ups = 3;
}  // namespace

connect_attempt::connect_attempt(std::shared_ptr<loop> on, peer_channel::owner& whose,
                                 const tcp_settings& tcp, hello says, channel_ready done)
    : loop_(std::move(on)),
      owner_(whose),
      tcp_(tcp),
      key_(tcp.key),
      says_(std::move(says)),
      done_(std::move(done)),
      retry_(loop_->io()),
      give_up_at_(std::chrono::steady_clock::now() + time_to_connect) {}

void connect_attempt::to_locator(const locator& where, job_key key) {
  route_ = route::locator;
  if (!key.empty()) key_ = std::move(key);
  where_ = socket_name_ = where.socket_name;
  whom_ = id_of_socket(where.socket_name);
  places_ = where.places;
  connect();
}

void connect_attempt::to_listener(const listen_address& address,
                                  std::shared_ptr<const net::tls::settings> certificates) {
  where_ = to_text(address);
  certificates_ = std::move(certificates);
  if (certificates_ && address.how != listen_address::scheme::tcp)
    return fail(
        {errc::invalid_argument,
         fmt::format("certificates are for addresses tcp://host:port, not for {}", where_)});
  if (address.is_unix()) {
    route_ = route::unix_listener;
    socket_name_ = listener_socket_name(address.name);
    return connect();
  }
  places_ = {{address.host, address.port}};
  key_ = tcp_.key_of_listeners();
  if (address.how == listen_address::scheme::tcp) {
    route_ = route::tcp_listener;
    if (key_.empty() && !certificates_)
      return fail({errc::unreachable,
                   fmt::format("cannot reach {}: this process has no job key; set WEFT_JOB_KEY or "
                               "WEFT_JOB_KEY_FILE to that of the other side, or use certificates "
                               "(WEFT_TLS_CERTIFICATE)",
                               where_)});
    return prove_at(places_.front());
  }
  route_ = route::any_listener;
  ask(places_.front(), {}, [self = shared_from_this()](tcp_asking::outcome got) {
    if (!got.answer) return self->end(nullptr, got.why);
    self->says_.listener_number = got.answer->listener_number;
    self->socket_name_ = got.answer->locator;
    self->connect();
  });
}

void connect_attempt::ask(const tcp_place& where, tcp_proof by, tcp_asking::answered done) {
  const std::string called = route_ == route::locator ? to_text(where) : where_;
  asking_ = std::make_shared<tcp_asking>(
      loop_, where, called, std::move(by), tcp_.encryption,
      [self = shared_from_this(), done = std::move(done)](tcp_asking::outcome got) {
        self->asking_.reset();
        done(std::move(got));
      });
  asking_->start();
}

void connect_attempt::prove_at(const tcp_place& where) {
  ask(where, {key_, certificates_}, [self = shared_from_this()](tcp_asking::outcome got) {
    if (got.socket.fd) return self->take(std::move(got.socket), connection::medium::tcp);
    if (self->route_ != route::locator) return self->end(nullptr, got.why);
    self->next_place(got.why);
  });
}

/// Tries a locator's places one after the other: some may lie in networks that this host is not in.
void connect_attempt::next_place(const failure& why) {
  if (!done_) return;
  if (why.kind != errc::ok) {
    tried_ += "; " + why.text;
    all_gone_ = all_gone_ && why.kind == errc::refused;
  }
  if (next_place_ == places_.size())
    return fail(
        {all_gone_ ? errc::peer_lost : errc::unreachable,
         fmt::format("{} {}: its Unix socket is out of reach (another host, or a container with a "
                     "network of its own){}",
                     all_gone_ ? "nobody listens at" : "no channel to", where_, tried_)});
  prove_at(places_[next_place_++]);
}

void connect_attempt::connect() {
  if (!done_) return;
  opened socket = tcp_.names.connect(socket_name_, loop_->disposal());
  if (socket.fd) return take({std::move(socket.fd)}, connection::medium::unix_packets);
  const bool passing = socket.error == EAGAIN || socket.error == EMFILE || socket.error == ENFILE ||
                       socket.error == ENOBUFS || socket.error == ENOMEM;
  if (!passing || std::chrono::steady_clock::now() >= give_up_at_) return give_up(socket.error);
  retry_.expires_after(retry_time);
  retry_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    if (!fault) self->connect();
  });
}

void connect_attempt::take(proven_socket socket, connection::medium m) try {
  if (m == connection::medium::tcp) {
    prepare_tcp(socket.fd.get(), tcp_.peer_timeout);
  } else if (const credentials who = credentials_of(socket.fd.get()); !who.same_user) {
    if (!tcp_.may_know_key(who))
      return fail(
          {errc::unreachable, fmt::format("no channel to {}: {} listens there: {}", where_,
                                          describe_process(who.pid), why_no_user_of_ours(who))});
    socket.known = tcp_.admission_by_key();
  }
  channel_ = std::make_shared<peer_channel>(loop_, owner_, std::move(socket), m);
  // The channel keeps this object alive until it has an answer or ends.
  channel_->ask(says_, where_, whom_,
                [self = shared_from_this()](channel_ptr got, const failure& why) {
                  self->on_channel(std::move(got), why);
                });
} catch (const std::exception& e) {
  fail({errc::unreachable, fmt::format("no channel to {}: {}", where_, e.what())});
}

void connect_attempt::on_channel(channel_ptr got, const failure& why) {
  // Usually the listener has ended. But a listener also hangs up on a process that says nothing for
  // long: this one, if it was stopped between connecting and its hello.
  if (why.kind == errc::peer_lost && ++hang_ups_ != most_hang_ups) {
    channel_.reset();
    next_place_ = 0;
    return connect();
  }
  if (!got && channel_ && channel_->met_another()) return on_another();
  end(std::move(got), why);
}

/// Hosts may share addresses of private networks, so another process of the job may listen at this
/// one. A Unix socket's name is free for others when a context has ended, and in another container
/// it always is.
void connect_attempt::on_another() {
  const bool over_tcp = !std::exchange(channel_, nullptr)->carries_descriptors();
  const std::string_view said = "another process of the job answers at";
  const bool may_try_places = !places_.empty() && !key_.empty();
  if (!may_try_places)
    return fail({errc::unreachable, fmt::format("no channel: {} {}", said, where_)});
  const std::string at = over_tcp ? to_text(places_[next_place_ - 1]) : where_;
  next_place({errc::unreachable, fmt::format("{} {}", said, at)});
}

void connect_attempt::give_up(int error) {
  const std::string text = runtime::describe_errno(error);
  if (error != ECONNREFUSED)
    return fail(
        {errc::unreachable,
         fmt::format("no channel to {}: {}{}", where_, text,
                     error == EAGAIN ? " (it does not accept connections fast enough)" : "")});
  switch (route_) {
    case route::locator:
      if (!places_.empty() && !key_.empty()) return next_place({});
      return fail(
          {errc::peer_lost,
           fmt::format("nobody listens at {}; that process has ended, or is in another container "
                       "or on another host, which takes TCP and a job key (WEFT_JOB_KEY)",
                       where_)});
    case route::unix_listener:
      return fail({errc::refused, fmt::format("nobody listens at {}; start the other side first, "
                                              "or check the name and the user",
                                              where_)});
    case route::any_listener:
      if (!key_.empty()) return prove_at(places_.front());
      return fail(
          {errc::unreachable,
           fmt::format("{} answers, but its Unix socket is out of reach: it runs on another host, "
                       "or in a container with a network of its own; for TCP both sides need the "
                       "same job key (WEFT_JOB_KEY)",
                       where_)});
    case route::tcp_listener:
      return;  // has no Unix socket to fail at
  }
}

void connect_attempt::cancel() {
  done_ = nullptr;
  retry_.cancel();
  if (const auto asking = std::exchange(asking_, nullptr)) asking->close();
  if (const auto channel = std::exchange(channel_, nullptr)) channel->abandon();
}

void connect_attempt::fail(failure why) {
  channel_ready done = std::exchange(done_, nullptr);
  cancel();
  if (done) done(nullptr, why);
}

void connect_attempt::end(channel_ptr got, const failure& why) {
  channel_.reset();
  if (const auto done = std::exchange(done_, nullptr)) done(std::move(got), why);
}

}  // namespace weft::wireup
