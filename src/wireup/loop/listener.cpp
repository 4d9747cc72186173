// SPDX-License-Identifier: Apache-2.0
#include "wireup/loop/listener.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

namespace {
constexpr int accepts_at_once = 32;
// Long enough to cost nothing, short enough that a client hardly notices the delay.
constexpr auto rest_time = std::chrono::milliseconds(50);
// How long clients wait for descriptors.
constexpr auto time_to_starve = std::chrono::seconds(2);

bool is_unix(int socket) noexcept {
  int family = 0;
  socklen_t size = sizeof family;
  return ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 && family == AF_UNIX;
}
}  // namespace

listener::listener(loop& on, unique_fd socket, accepted take, starved warn, sorry regret)
    : disposal_(is_unix(socket.get()) ? on.disposal() : nullptr),
      socket_(on.io()),
      rest_(on.io()),
      take_(std::move(take)),
      warn_(std::move(warn)),
      regret_(std::move(regret)),
      spare_(socket.get(), disposal_) {
  asio::error_code fault;
  socket_.assign(socket.get(), fault);
  if (fault) throw std::system_error(fault, "epoll_ctl");
  fork_guard_.watch(socket.release());
}

listener::~listener() { stop_listening(); }

void listener::start() { wait(); }

void listener::resume() {
  paused_ = false;
  wait();
}

void listener::wait() {
  if (waiting_ || paused_ || closed_) return;
  socket_.async_wait(asio::posix::descriptor_base::wait_read,
                     [self = shared_from_this()](const asio::error_code& fault) {
                       self->waiting_ = false;
                       if (!fault) self->accept();
                     });
  waiting_ = true;
}

void listener::accept() {
  for (int n = 0; n < accepts_at_once && !paused_ && !closed_; ++n) {
    if (disposal_ && disposal_->is_saturated()) return rest();
    opened next = accept_one(socket_.native_handle(), disposal_);
    if (next.fd) {
      starved_since_.reset();
      take_(std::move(next.fd));
      continue;
    }
    if (next.error == EAGAIN || next.error == EWOULDBLOCK) {
      starved_since_.reset();
      break;
    }
    if (next.error == EMFILE || next.error == ENFILE || next.error == ENOBUFS ||
        next.error == ENOMEM) {
      if (warn_) warn_(next.error);
      if (turn_away_one()) continue;  // there may be a descriptor for the next client
      // The connection stays in the queue and the socket readable: waiting at once would spin.
      return rest();
    }
    // Any other error concerns the connecting process, which is gone.
  }
  wait();
}

/// \return false: no client has waited for long enough
bool listener::turn_away_one() {
  const auto now = std::chrono::steady_clock::now();
  if (!starved_since_) starved_since_ = now;
  if (now - *starved_since_ < time_to_starve) return false;
  const bool done = spare_.turn_away(socket_.native_handle(), [this](int socket) {
    if (regret_) regret_(socket);
  });
  if (!done) starved_since_.reset();  // the queue is empty
  return done;
}

void listener::rest() {
  rest_.expires_after(rest_time);
  rest_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    self->waiting_ = false;
    if (!fault) self->wait();
  });
  waiting_ = true;
}

void listener::stop_listening() noexcept {
  spare_.give_up();
  fork_guard_.drop();
  if (!socket_.is_open()) return;
  const int socket = socket_.release();
  if (disposal_)
    disposal_->stop_listening(socket);
  else
    ::close(socket);
}

void listener::close() {
  closed_ = true;
  stop_listening();
  rest_.cancel();
}

}  // namespace weft::wireup
