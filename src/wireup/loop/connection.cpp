// SPDX-License-Identifier: Apache-2.0
#include "wireup/loop/connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "runtime/descriptors/rights.hpp"

namespace weft::wireup {

using namespace std::chrono_literals;

namespace {
// A bound for each peer, so that one that sends much cannot keep the thread from the others.
constexpr int frames_at_once = 32;
constexpr auto linger_time = 1s;
constexpr auto resend_time = 10ms;

std::size_t cost_of(const frame& f) noexcept {
  return connection::frame_cost + f.body.size() + f.fds.size() * connection::descriptor_cost;
}
}  // namespace

connection::connection(loop& on, unique_fd socket, medium m,
                       std::unique_ptr<net::tls::stream> sealed)
    : loop_(on),
      socket_(on.io()),
      retry_(on.io()),
      linger_(on.io()),
      medium_(m),
      peer_(m == medium::unix_packets ? credentials_of(socket.get()) : credentials{}),
      tcp_name_(m == medium::tcp ? name_of_peer(socket.get()) : std::string()),
      stream_(std::move(sealed)) {
  asio::error_code fault;
  socket_.assign(socket.get(), fault);
  if (fault) throw std::system_error(fault, "epoll_ctl");
  fork_guard_.watch(socket.release());
}

connection::~connection() { hang_up(); }

void connection::let_descriptors_in() noexcept {
  if (carries_descriptors()) runtime::let_descriptors_in(socket_.native_handle(), true);
}

std::string connection::peer_name() const {
  return carries_descriptors() ? describe_process(peer_.pid) : tcp_name_;
}

unique_fd connection::process() {
  return carries_descriptors() ? process_at(socket_.native_handle()) : unique_fd();
}

void connection::start(std::shared_ptr<user> whom) {
  user_ = std::move(whom);
  guarded([this] { wait_to_read(); });
}

void connection::wait_to_read() {
  // A process that has ended sends no more: what is left to read is bounded.
  resting_ = owed_ > most_owed_to_hear && !process_ended_;
  if (resting_) return;
  if (stream_.may_have_more())  // the kernel will not tell of it
    return asio::post(loop_.io(), [self = shared_from_this()] {
      if (self->user_) self->guarded([&self] { self->read(); });
    });
  socket_.async_wait(asio::posix::descriptor_base::wait_read,
                     [self = shared_from_this()](const asio::error_code& fault) {
                       if (!fault && self->user_) self->guarded([&self] { self->read(); });
                     });
}

/// When it throws, half of a change may have been made: the connection ends, rather than stop
/// receiving.
template <class F>
void connection::guarded(F f) {
  try {
    f();
  } catch (...) {
    end(ending::failed);
    throw;
  }
}

void connection::process_ended() {
  process_ended_ = true;
  if (user_) guarded([this] { read(); });
}

bool connection::is_cut() noexcept {
  pollfd end{socket_.native_handle(), 0, 0};
  return ::poll(&end, 1, 0) == 1 && (end.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

void connection::read() {
  // A reset is reported once, before the packets that arrived ahead of it.
  for (int n = 0; n < frames_at_once; ++n) {
    packet p;
    p.disposal = loop_.disposal();
    const int socket = socket_.native_handle();
    switch (carries_descriptors() ? receive_packet(socket, loop_.scratch(), p)
                                  : stream_.receive(socket, p)) {
      case arrival::packet: {
        std::optional<frame> f = frame_header::parse(p.bytes, std::move(p.fds));
        if (!f) return end(ending::broken);
        const std::shared_ptr<user> whom = user_;
        whom->on_frame(std::move(*f));
        if (!user_) return;
        break;
      }
      case arrival::nothing:
        return process_ended_ ? end(ending::hung_up) : wait_to_read();
      case arrival::reset:
        break;
      case arrival::end:
        return end(silent_ ? ending::closed : ending::hung_up);
      case arrival::no_room: {
        const std::shared_ptr<user> whom = user_;
        whom->on_no_room();
        return end(ending::no_room);
      }
      case arrival::broken:
        return end(ending::broken);
    }
  }
  wait_to_read();
}

void connection::send(frame f) {
  if (!user_ || deaf_ || closing_) return;
  guarded([&] {
    owed_ += cost_of(f);
    queue_.push_back(std::move(f));
    if (!writing_) flush();
    if (owed_ > most_owed) end(ending::overdue);
  });
}

/// One frame has been sent.
void connection::on_sent(const frame& f) {
  owed_ -= cost_of(f);
  queue_.pop_front();
  if (resting_ && owed_ <= most_owed_to_hear / 2) wait_to_read();
}

void connection::drop_queue() {
  queue_.clear();
  owed_ = 0;
  if (resting_) wait_to_read();
}

void connection::flush() {
  while (!queue_.empty()) {
    const frame& f = queue_.front();
    const int socket = socket_.native_handle();
    const int fault = carries_descriptors()
                          ? send_packet(socket, frame_header::of(f), f.body, f.fds)
                          : stream_.send(socket, f);
    if (fault == EAGAIN || fault == EWOULDBLOCK) return wait_to_write();
    // The kernel has too many descriptors in flight, or no memory at the moment.
    if (fault == ETOOMANYREFS || fault == ENOBUFS || fault == ENOMEM) return retry_soon();
    const bool cut = fault == EPIPE || fault == ECONNRESET || fault == ENOTCONN;
    if (cut || (fault != 0 && !carries_descriptors())) {
      // What the peer sent before it left can still be read; reading finds the end.
      deaf_ = true;
      drop_queue();
      break;
    }
    if (fault != 0) return end(ending::failed);
    on_sent(f);
  }
  if (closing_) carries_descriptors() ? end(ending::closed) : say_no_more();
}

/// If the other side has sent bytes that this side has not read, closing the TCP socket at once
/// could discard bytes that are still on their way. The other side closes its end when it has seen
/// ours.
void connection::say_no_more() {
  if (std::exchange(silent_, true)) return;
  ::shutdown(socket_.native_handle(), SHUT_WR);
  linger();
}

void connection::wait_to_write() {
  socket_.async_wait(asio::posix::descriptor_base::wait_write,
                     [self = shared_from_this()](const asio::error_code& fault) {
                       self->writing_ = false;
                       if (!fault && self->user_) self->guarded([&self] { self->flush(); });
                     });
  writing_ = true;
}

void connection::retry_soon() {
  writing_ = true;
  retry_.expires_after(resend_time);
  retry_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    self->writing_ = false;
    if (!fault && self->user_) self->guarded([&self] { self->flush(); });
  });
}

void connection::close_when_sent() {
  if (!user_ || closing_) return;
  closing_ = true;
  if (!writing_) return flush();
  linger();
}

void connection::linger() {
  linger_.expires_after(linger_time);
  linger_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    if (!fault) self->end(ending::closed);
  });
}

void connection::end(ending why) {
  const std::shared_ptr<connection> self = shared_from_this();  // the user may be its last holder
  const std::shared_ptr<user> whom = user_;
  close();
  if (whom) whom->on_ended(why);
}

/// The other side may have left descriptors in a Unix socket.
void connection::hang_up() noexcept {
  fork_guard_.drop();
  if (!socket_.is_open()) return;
  // A child that this process has made without fork() may hold the socket open.
  ::shutdown(socket_.native_handle(), SHUT_RDWR);
  const int socket = socket_.release();
  if (carries_descriptors())
    loop_.disposal()->hang_up(socket);
  else
    ::close(socket);
}

void connection::close() {
  const std::shared_ptr<user> whom = std::move(user_);
  user_.reset();
  queue_.clear();
  owed_ = 0;
  hang_up();
  retry_.cancel();
  linger_.cancel();
}

}  // namespace weft::wireup
