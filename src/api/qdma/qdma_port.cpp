// SPDX-License-Identifier: Apache-2.0
#include "api/qdma/qdma_port.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>

#include <weft/coro/detail/timer.hpp>

#include "runtime/descriptors/rights.hpp"

namespace weft::qdma::detail {

using transports::wireup_message;
using transports::qdma::socket_id;
using transports::qdma::vpid;

namespace {

// Packets over a connection, one in each direction. A card is the other kind.
constexpr std::uint32_t ask_magic = 0x61646471;     // "qdda": hand me the table
constexpr std::uint32_t answer_magic = 0x74646471;  // "qddt": here it is
constexpr std::uint32_t no_magic = 0x6e646471;      // "qddn", and why not
constexpr std::size_t most_bytes = 512;
constexpr unsigned clients_at_once = 16;

std::string socket_name(const socket_id& id) {
  return wireup::socket_name_of(wireup::context_id{{id[0], id[1]}});
}

std::span<const std::byte> bytes_of(const std::uint32_t& word) {
  return std::as_bytes(std::span(&word, 1));
}

std::uint32_t magic_of(std::span<const std::byte> bytes) noexcept {
  std::uint32_t magic = 0;
  if (bytes.size() >= sizeof magic) std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic;
}

/// No descriptor: the queue is full. \throws weft::error
unique_fd connect_to(const socket_id& where, std::shared_ptr<runtime::disposal> ends_in) {
  wireup::opened to = wireup::connect_abstract(socket_name(where), std::move(ends_in));
  if (to.fd) {
    if (const auto who = wireup::credentials_of(to.fd.get()); !who.same_user)
      throw error(errc::refused,
                  "the process at that address is not let in: " + wireup::why_no_user_of_ours(who));
    runtime::let_descriptors_in(to.fd.get(), true);
    return std::move(to.fd);
  }
  if (to.error == EAGAIN) return {};
  if (to.error == ECONNREFUSED) throw error(errc::peer_lost, "the process there has ended");
  throw error(errc::system,
              fmt::format("connecting to a qdma device: {}", std::strerror(to.error)));
}

}  // namespace

bool ask_for_table(runtime::engine& e, const socket_id& where, const table_box& box) {
  const auto ends_in = std::make_shared<runtime::disposal>();
  auto fd = std::make_shared<unique_fd>(connect_to(where, ends_in));
  if (!*fd) return false;
  if (const int code = wireup::send_packet(fd->get(), bytes_of(ask_magic), {}, {}); code != 0)
    throw error(errc::peer_lost, "the process there has ended");
  e.watch_once(runtime::duplicate(*fd), [fd, box, ends_in] {
    std::array<std::byte, most_bytes> buffer;
    wireup::packet p;
    p.disposal = ends_in;
    const auto what = wireup::receive_packet(fd->get(), buffer, p);
    if (what == wireup::arrival::no_room)
      box->fail(errc::system, "no more file descriptors; raise `ulimit -n`");
    else if (what != wireup::arrival::packet)
      box->fail(errc::peer_lost, "the process there ended before it handed on its table");
    else if (magic_of(p.bytes) != answer_magic || p.fds.size() != 1)
      box->fail(errc::protocol_error, "what is there is no qdma device of this version");
    else
      box->deliver(std::make_shared<unique_fd>(std::move(p.fds[0])));
  });
  return true;
}

std::shared_ptr<port> port::make(runtime::engine& e, transports::qdma::table t) {
  std::shared_ptr<port> made(new port(e));
  const wireup::context_id id = wireup::random_id();
  made->name_ = {id.words[0], id.words[1]};
  // Before the table names it.
  wireup::opened at = wireup::listen_abstract(socket_name(made->name_));
  if (!at.fd)
    throw error(errc::system,
                fmt::format("listening for qdma devices: {}", std::strerror(at.error)));
  made->listener_ = std::move(at.fd);
  made->device_ = std::make_unique<transports::qdma::device>(e, std::move(t), made->name_);
  made->listen();
  return made;
}

port::~port() {
  if (listener_) disposal_->stop_listening(listener_.release());
}

device_address port::where() const noexcept {
  const std::uint32_t head[] = {0x6d647177, 1, device_->self(), 0};  // "wqdm", version
  device_address c;
  std::memcpy(c.bytes.data(), head, sizeof head);
  std::memcpy(c.bytes.data() + sizeof head, name_.data(), sizeof name_);
  return c;
}

void port::listen() {
  listener_watch_ =
      engine_.watch_once(runtime::duplicate(listener_.get()), [self = weak_from_this()] {
        if (const auto here = self.lock()) here->on_clients();
      });
}

namespace {

/// Runs a function after a while, unless the context ends before. Owns itself.
class later final : public weft::detail::timer {
 public:
  /// Without the progress lock. \throws std::bad_alloc
  static void run(runtime::engine& e, std::chrono::milliseconds pause, std::function<void()> f) {
    auto* const made = new later(std::move(f));
    made->on = &e.background();
    made->when = e.now() + pause;
    e.start(*made);
  }

 private:
  explicit later(std::function<void()> f) noexcept
      : timer([](operation& op) noexcept {
          const std::unique_ptr<later> self(&static_cast<later&>(op));
          if (self->status == errc::ok) self->f_();
        }),
        f_(std::move(f)) {}

  std::function<void()> f_;
};

}  // namespace

/// Clients wait meanwhile; to listen at once would find them at once.
void port::rest() {
  later::run(engine_, std::chrono::milliseconds(10), [self = weak_from_this()] {
    if (const auto here = self.lock()) here->on_clients();
  });
}

/// Called by the thread that finds the listener readable; progress lock not held. Without
/// descriptors or memory clients wait until the next one comes.
void port::on_clients() {
  std::vector<connection_ptr> fresh;
  try {
    for (unsigned left = clients_at_once; left != 0 && !disposal_->is_saturated(); --left) {
      wireup::opened in = wireup::accept_one(listener_.get(), disposal_);
      if (!in.fd) break;
      const wireup::credentials who = wireup::credentials_of(in.fd.get());
      if (!who.same_user) {
        disposal_->hang_up(in.fd.release());
        continue;
      }
      runtime::let_descriptors_in(in.fd.get(), true);
      auto c = std::make_shared<connection>();
      c->fd = std::move(in.fd);
      c->pid = who.pid;
      fresh.push_back(std::move(c));
    }
    {
      const runtime::engine::holder hold(engine_);
      if (shut_) return;
      for (const connection_ptr& c : fresh) connections_.push_back(c);
    }
    for (const connection_ptr& c : fresh) watch(c);
    disposal_->is_saturated() ? rest() : listen();
  } catch (const std::exception&) {
    // A connection that is not watched gets no answer: the other side ends it.
  }
}

void port::watch(const connection_ptr& c) {
  unique_fd fd;
  {
    const runtime::engine::holder hold(engine_);
    if (!c->fd) return;
    fd = runtime::duplicate(c->fd);
  }
  const auto number =
      engine_.watch_once(std::move(fd), [self = weak_from_this(), weak = std::weak_ptr(c)] {
        const auto here = self.lock();
        const auto it = weak.lock();
        if (here && it) here->on_packets(it);
      });
  const runtime::engine::holder hold(engine_);
  if (c->fd)
    c->watch = number;
  else
    engine_.unwatch(number);  // it has ended meanwhile
}

/// The connection's end tells of most deaths; a process that has forked keeps it open beyond its
/// own.
void port::watch_death(const connection_ptr& c) {
  if (c->peer == 0 || c->death_watch != 0) return;
  unique_fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, c->pid, 0)));
  if (!pidfd) return;  // refused, or in another namespace: the connection has to do
  const auto number =
      engine_.watch_once(std::move(pidfd), [self = weak_from_this(), weak = std::weak_ptr(c)] {
        const auto here = self.lock();
        const auto it = weak.lock();
        if (!here || !it) return;
        const runtime::engine::holder hold(here->engine_);
        if (it->fd) here->drop(it);
      });
  const runtime::engine::holder hold(engine_);
  if (c->fd)
    c->death_watch = number;
  else
    engine_.unwatch(number);  // it has ended meanwhile
}

void port::on_packets(const connection_ptr& c) {
  std::array<std::byte, most_bytes> buffer;
  wireup::packet p;
  p.disposal = disposal_;
  bool good = false;
  {
    const runtime::engine::holder hold(engine_);
    if (shut_ || !c->fd) return;
    try {
      const auto what = wireup::receive_packet(c->fd.get(), buffer, p);
      good = what == wireup::arrival::nothing ||
             (what == wireup::arrival::packet && take(*c, std::move(p)));
    } catch (const std::exception&) {
      good = false;  // no memory, or no descriptor for the answer
    }
    if (!good) drop(c);
  }
  if (!good) return;
  try {
    watch(c);
    watch_death(c);
  } catch (const std::exception&) {
    const runtime::engine::holder hold(engine_);
    drop(c);
  }
}

/// Reads one packet. \return false: the connection is not needed any more
bool port::take(connection& c, wireup::packet p) {
  const arrival_box waits = std::exchange(c.waits, nullptr);
  const std::uint32_t magic = magic_of(p.bytes);
  if (!waits && magic == ask_magic && p.fds.empty()) {
    std::vector<unique_fd> table;
    table.push_back(runtime::duplicate(device_->contexts().fd()));
    return wireup::send_packet(c.fd.get(), bytes_of(answer_magic), {}, table) == 0;
  }
  if (waits && magic == no_magic) {
    const auto text = p.bytes.subspan(sizeof magic);
    waits->fail(errc::refused,
                std::string_view(reinterpret_cast<const char*>(text.data()), text.size()));
    return false;
  }
  wireup_message card;
  card.bytes.assign(p.bytes.begin(), p.bytes.end());
  card.fds = std::move(p.fds);
  try {
    // Both nodes may have connected to each other; then they know each other already.
    transports::qdma::device_address_body body{};
    if (card.bytes.size() == sizeof body) std::memcpy(&body, card.bytes.data(), sizeof body);
    const bool known = body.who != 0 && body.who != device_->self() && device_->knows(body.who);
    if (!known) c.peer = device_->meet(card, c.pid);
    if (waits) {
      waits->deliver(static_cast<process>(body.who));
      return true;
    }
    const wireup_message own = device_->card();
    return wireup::send_packet(c.fd.get(), own.bytes, {}, own.fds) == 0;
  } catch (const error& e) {
    if (waits) {
      waits->fail(e.kind(), e.what());
    } else {
      const std::string_view why(e.what());
      wireup::send_packet(c.fd.get(), bytes_of(no_magic),
                          std::as_bytes(std::span(why.substr(0, most_bytes - sizeof magic))), {});
    }
    return false;
  }
}

/// With the progress lock held.
void port::drop(const connection_ptr& c) noexcept {
  if (c->fd) disposal_->hang_up(c->fd.release());
  if (c->watch != 0) engine_.unwatch(c->watch);
  if (c->death_watch != 0) engine_.unwatch(c->death_watch);
  if (const arrival_box waits = std::exchange(c->waits, nullptr))
    waits->fail(errc::peer_lost, "the process there ended before the two had met");
  if (c->peer != 0) device_->lose(std::exchange(c->peer, 0));
  connections_.remove(c);
}

bool port::meet(process who, unique_fd& line, const arrival_box& box) {
  const auto v = static_cast<vpid>(who);
  {
    const runtime::engine::holder hold(engine_);
    if (shut_) throw error(errc::closed, "the context has ended");
    if (device_->knows(v)) {
      box->deliver(who);
      return true;
    }
  }
  const socket_id where = device_->contexts().name_of(v);
  if (where == socket_id{})
    throw error(errc::peer_lost, fmt::format("no process has the id {:#x} now", v));
  if (!line) line = connect_to(where, disposal_);
  if (!line) return false;
  const wireup_message own = device_->card();
  const int fault = wireup::send_packet(line.get(), own.bytes, {}, own.fds);
  // It lets descriptors in when it has accepted the connection, and seen whose it is.
  if (fault == EPERM) return false;
  if (fault != 0) throw error(errc::peer_lost, "the process there has ended");
  auto c = std::make_shared<connection>();
  c->fd = std::move(line);
  c->pid = wireup::credentials_of(c->fd.get()).pid;
  c->waits = box;
  {
    const runtime::engine::holder hold(engine_);
    connections_.push_back(c);
  }
  watch(c);
  return true;
}

void port::shut() noexcept {
  shut_ = true;
  engine_.unwatch(listener_watch_);
  while (!connections_.empty()) drop(connection_ptr(connections_.front()));
  disposal_->stop_listening(listener_.release());
  device_->close();
}

}  // namespace weft::qdma::detail
