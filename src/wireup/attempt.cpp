// SPDX-License-Identifier: Apache-2.0
#include "wireup/attempt.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

namespace weft::wireup {

using namespace std::chrono_literals;

namespace {
// For a listener whose queue is full, or while we have no descriptor to spare.
constexpr auto retry_time = 10ms;
constexpr auto time_to_connect = 5s;
constexpr int most_hang_ups = 3;
}  // namespace

attempt::attempt(std::shared_ptr<loop> on, peer_channel::owner& whose, hello says,
                 connection_manager::connected done)
    : loop_(std::move(on)),
      owner_(whose),
      says_(std::move(says)),
      done_(std::move(done)),
      retry_(loop_->io()),
      give_up_at_(std::chrono::steady_clock::now() + time_to_connect) {}

void attempt::to_locator(std::string locator) {
  route_ = route::locator;
  where_ = locator;
  socket_name_ = std::move(locator);
  connect();
}

void attempt::to_door(const door_address& address) {
  where_ = to_text(address);
  if (address.is_unix) {
    route_ = route::unix_door;
    socket_name_ = door_socket_name(address.name);
    return connect();
  }
  route_ = route::any_door;
  asking_ = std::make_shared<door_asking>(
      *loop_, address,
      [self = shared_from_this()](std::optional<door_answer> answer, std::string failure) {
        self->asking_.reset();
        if (!answer) return self->end(nullptr, std::move(failure));
        self->says_.door = answer->door;
        self->socket_name_ = answer->locator;
        self->connect();
      });
  asking_->start();
}

void attempt::connect() {
  if (!done_) return;
  opened socket = connect_abstract(socket_name_);
  if (socket.fd) return take(std::move(socket.fd));
  const bool passing = socket.error == EAGAIN || socket.error == EMFILE || socket.error == ENFILE ||
                       socket.error == ENOBUFS || socket.error == ENOMEM;
  if (!passing || std::chrono::steady_clock::now() >= give_up_at_) return give_up(socket.error);
  retry_.expires_after(retry_time);
  retry_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    if (!fault) self->connect();
  });
}

void attempt::take(runtime::unique_fd socket) try {
  channel_ = std::make_shared<peer_channel>(loop_, owner_, std::move(socket));
  const credentials& who = channel_->kernel_view();
  if (!who.same_user) {
    return fail(
        fmt::format("no channel to {}: {} listens there, which belongs to the user with id "
                    "{}; both sides must run as the same user",
                    where_, describe_process(who.pid), who.uid));
  }
  // The channel keeps this alive, and lets go when it answers or ends.
  channel_->ask(says_, where_, [self = shared_from_this()](channel_ptr got, std::string failure) {
    // If it has ended, nobody listens there any more. But it also hangs up on who says nothing for
    // long: on this process, if it was stopped between connecting and speaking.
    if (failure.starts_with("gone: ") && ++self->hang_ups_ != most_hang_ups) {
      self->channel_.reset();
      return self->connect();
    }
    self->end(std::move(got), std::move(failure));
  });
} catch (const std::exception& e) {
  fail(fmt::format("no channel to {}: {}", where_, e.what()));
}

void attempt::give_up(int error) {
  const char* text = std::strerror(error);
  if (error != ECONNREFUSED)
    return fail(
        fmt::format("no channel to {}: {}{}", where_, text,
                    error == EAGAIN ? " (it does not accept connections fast enough)" : ""));
  switch (route_) {
    case route::locator:
      return fail(
          fmt::format("gone: nobody listens at {}; that process has ended, or is in another "
                      "container",
                      where_));
    case route::unix_door:
      return fail(
          fmt::format("refused: nobody listens at {}; start the other side first, or check "
                      "the name and the user",
                      where_));
    case route::any_door:
      return fail(
          fmt::format("{} answers, but its Unix socket is out of reach: it runs on another "
                      "host, or in a container with a network of its own",
                      where_));
  }
}

void attempt::cancel() {
  done_ = nullptr;
  retry_.cancel();
  if (const auto asking = std::exchange(asking_, nullptr)) asking->close();
  if (const auto channel = std::exchange(channel_, nullptr)) channel->abandon();
}

void attempt::fail(std::string why) {
  connection_manager::connected done = std::exchange(done_, nullptr);
  cancel();
  if (done) done(nullptr, std::move(why));
}

void attempt::end(channel_ptr got, std::string failure) {
  channel_.reset();
  if (const auto done = std::exchange(done_, nullptr)) done(std::move(got), std::move(failure));
}

}  // namespace weft::wireup
