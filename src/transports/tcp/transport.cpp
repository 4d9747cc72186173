// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/transport.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/os/errno_hint.hpp"

namespace weft::transports::tcp {

namespace {

// Reading a socket is a system call. A socket that was empty this often is read only every few
// passes, so that other transports do not wait for it, and then no more.
constexpr std::uint32_t looks_in_every_pass = 32;
constexpr std::uint32_t passes_between_looks = 8;  // a power of two
constexpr std::uint32_t polls_until_idle = 512;

template <class T>
void drop(std::vector<T*>& from, T* what) noexcept {
  from.erase(std::remove(from.begin(), from.end(), what), from.end());
}

}  // namespace

tcp_transport::tcp_transport(services& e, settings s)
    : engine_(e),
      settings_(std::move(s)),
      traits_{.name = "tcp",
              .max_payload = max_payload,
              .fragment = max_payload,
              .first_piece = 64 * 1024,
              .announced_beyond = port::bytes_per_read,
              .links = settings_.links,
              .fails_in_order = true},
      sockets_(runtime::make_epoll_wait_set()),
      lingering_sockets_(settings_.linger),
      acceptor_(*sockets_, *this) {
  worth_polling = false;
}

tcp_transport::~tcp_transport() {
  lingering_sockets_.finish();
  pairs_.clear();
  if (clock_.fd) sockets_->remove(clock_.fd.get());
}

std::string tcp_transport::reach(bool is_self) const {
  return is_self ? "a process reaches itself by `self`" : "";
}

// --- peers ---------------------------------------------------------------------------------------

pair& tcp_transport::pair_of(frame_sink& peer, const counterpart& who) {
  if (!scratch_) scratch_.reset(new std::byte[port::scratch_bytes]);
  make_clock();
  auto known = pairs_.find(&peer);
  if (known == pairs_.end())
    known = pairs_.emplace(&peer, std::make_unique<pair>(*this, peer, who)).first;
  active_.reserve(pairs_.size());
  to_flush_.reserve(pairs_.size());
  worth_watching = true;
  return *known->second;
}

std::vector<address> tcp_transport::listen(std::uint32_t link) {
  std::vector<address> all = acceptor_.open(settings_.interfaces);
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(link % all.size());
  std::rotate(all.begin(), first, all.end());
  return all;
}

std::unique_ptr<link> tcp_transport::open(frame_sink& from, const counterpart& who,
                                          wireup_message& offer) {
  pair& p = pair_of(from, who);
  try {
    return p.open(offer, who);
  } catch (...) {
    forget_if_idle(p);
    throw;
  }
}

std::string tcp_transport::accept(frame_sink& to, const counterpart& who, wireup_message offer,
                                  wireup_message&) {
  pair& p = pair_of(to, who);
  std::string refusal;
  try {
    refusal = p.accept(offer, who);
  } catch (const error& e) {
    refusal = e.what();
  }
  if (!refusal.empty()) forget_if_idle(p);
  return refusal;
}

void tcp_transport::note(frame_sink& from, wireup_message p) {
  if (const auto it = pairs_.find(&from); it != pairs_.end()) it->second->note(p);
}

bool tcp_transport::drain_peer(frame_sink& from) noexcept {
  const auto it = pairs_.find(&from);
  return it == pairs_.end() || it->second->drain_peer();
}

void tcp_transport::forget(frame_sink& from) noexcept {
  const auto it = pairs_.find(&from);
  if (it == pairs_.end()) return;
  it->second->forget();
  forget_if_idle(*it->second);
}

void tcp_transport::forget_if_idle(pair& p) noexcept {
  if (!p.idle()) return;
  gone_ += p.counted();
  pairs_.erase(&p.frame_sink());
  worth_watching = !pairs_.empty();
  // Without a peer the transport is not watched, so clients that can prove nothing any more would
  // stay.
  if (pairs_.empty() && acceptor_.has_clients()) {
    worth_polling = busy = true;
    engine_.look_after();
  }
}

pair* tcp_transport::pair_offered(const token& shown) const noexcept {
  for (const auto& [peer, p] : pairs_)
    if (p->has_offered() && p->offered() == shown) return p.get();
  return nullptr;
}

std::optional<offered_peer> tcp_transport::offered(const token& shown) const noexcept {
  const pair* const p = pair_offered(shown);
  if (!p) return {};
  return offered_peer{&p->who(), p->stance()};
}

/// Not before a peer is expected: others can have no key.
const net::tls::settings* tcp_transport::encryption_of_offers() noexcept {
  const bool may_come = std::ranges::any_of(pairs_, [](const auto& one) {
    return one.second->is_expecting() && net::tls::takes(one.second->stance());
  });
  try {
    return may_come ? &encryption() : nullptr;
  } catch (const std::exception&) {
    return nullptr;
  }
}

/// A process that was met over a Unix socket is on this host. Of the others the first address is
/// the one of the connection that the two have: further ones may also be this host's, in private
/// networks.
net::tls::stance tcp_transport::stance_towards(const counterpart& who) {
  bool is_here = who.hosts.empty();
  if (!is_here && settings_.encryption == tcp_encryption::automatic) {
    const auto known = address::of_text(who.hosts.front());
    is_here = known && known->is_here();
  }
  const net::tls::stance own = net::tls::stance_of(settings_.encryption, is_here);
  if (own == net::tls::stance::cannot && !std::exchange(has_said_bare_, true))
    engine_.report(log_level::warning,
                   "what goes to other hosts over TCP is not encrypted, because weft is built "
                   "without OpenSSL; WEFT_TCP_TLS=no says that this is meant");
  return own;
}

const net::tls::settings& tcp_transport::encryption() {
  if (!encryption_) encryption_.emplace();
  return *encryption_;
}

/// A peer tries all addresses; the first connection counts.
void tcp_transport::take(const token& shown, stream_socket made) noexcept {
  pair* const p = pair_offered(shown);
  if (p && p->is_expecting()) p->connected(std::move(made));
}

std::string tcp_transport::describe() const {
  return fmt::format("tcp ({}; {} s of silence end a connection)", acceptor_.describe(),
                     settings_.peer_timeout.count());
}

std::string tcp_transport::describe(const frame_sink& peer) const {
  const auto it = pairs_.find(&peer);
  return it == pairs_.end() ? "tcp" : "tcp, " + it->second->describe();
}

void tcp_transport::add_to(metrics& m) const noexcept {
  m += gone_;
  for (const auto& [peer, p] : pairs_) m += p->counted();
  m.handshakes_failed += handshakes_failed_ + acceptor_.handshakes_failed();
}

void tcp_transport::add_peer_to(const frame_sink& peer, peer_metrics& m) const noexcept {
  if (const auto it = pairs_.find(&peer); it != pairs_.end()) m += it->second->counted();
}

// --- polling -------------------------------------------------------------------------------------

void tcp_transport::activate(pair& p) noexcept {
  p.empty_polls = 0;
  worth_polling = true;
  if (std::exchange(p.active, true)) return;
  sockets_->remove(p.fd());
  active_.push_back(&p);
  engine_.look_after();
}

/// Leaves the socket to the epoll set. The caller takes it off the list. \return false: the kernel
/// refuses
bool tcp_transport::deactivate(pair& p) noexcept {
  try {
    sockets_->add(p.fd(), p.wanted_events(), p);
  } catch (const std::exception&) {
    return false;  // no memory
  }
  p.active = false;
  p.empty_polls = 0;
  p.rest();
  if (p.unread()) want_ticks();
  return true;
}

void tcp_transport::unwatch(pair& p) noexcept {
  if (std::exchange(p.active, false))
    drop(active_, &p);
  else
    sockets_->remove(p.fd());
}

void tcp_transport::on_ready() noexcept {
  ready_ = true;
  worth_polling = true;
}

unsigned tcp_transport::poll() noexcept {
  ++passes_;
  unsigned events = 0;
  if (std::exchange(ready_, false)) events += sockets_->poll();
  if (pairs_.empty()) [[unlikely]]
    acceptor_.dismiss_clients();
  flush();
  events += poll_active();
  flush();
  if (!lingering_sockets_.empty()) [[unlikely]]
    events += lingering_sockets_.move();
  worth_polling = ready_ || !active_.empty() || !to_flush_.empty() || !lingering_sockets_.empty();
  update_busy();
  return events;
}

unsigned tcp_transport::poll_active() noexcept {
  unsigned events = 0;
  for (std::size_t i = 0; i < active_.size();) {
    pair& p = *active_[i];
    if (p.empty_polls > looks_in_every_pass && passes_ % passes_between_looks != 0) {
      ++i;
      continue;
    }
    const unsigned seen = p.look();
    events += seen;
    if (i >= active_.size() || active_[i] != &p) continue;  // it has ended
    if (seen != 0) {
      p.empty_polls = 0;
    } else if (++p.empty_polls > polls_until_idle && deactivate(p)) {
      active_[i] = active_.back();
      active_.pop_back();
      continue;
    } else if (p.empty_polls == looks_in_every_pass && p.unread()) {
      want_ticks();  // it may take long to become idle
    }
    ++i;
  }
  return events;
}

bool tcp_transport::has_work() noexcept {
  flush();
  return ready_ || std::ranges::any_of(active_, &pair::has_input);
}

void tcp_transport::arm() noexcept {
  flush();
  active_.erase(std::remove_if(active_.begin(), active_.end(),
                               [this](pair* p) { return !p->has_input() && deactivate(*p); }),
                active_.end());
  // Sockets that the kernel would not watch are left to ticks.
  if (!active_.empty() || acceptor_.rests()) want_ticks();
}

void tcp_transport::flush_later(stream_link& l) noexcept {
  if (std::exchange(l.listed, true)) return;
  to_flush_.push_back(&l);
  worth_polling = true;
  busy = true;
  engine_.look_after();
}

void tcp_transport::flush() noexcept {
  while (!to_flush_.empty()) {
    stream_link& l = *to_flush_.back();
    to_flush_.pop_back();
    l.listed = false;
    l.flush();
  }
  update_busy();
}

void tcp_transport::drop_flush(stream_link& l) noexcept {
  if (std::exchange(l.listed, false)) drop(to_flush_, &l);
}

void tcp_transport::count_unfinished(bool more) noexcept {
  unfinished_ = more ? unfinished_ + 1 : unfinished_ - 1;
  update_busy();
  if (more) engine_.look_after();
}

void tcp_transport::linger_on(int fd, std::span<const std::byte> bytes) noexcept {
  lingering_sockets_.add(fd, bytes);
  worth_polling = true;
  update_busy();
  engine_.look_after();
}

void tcp_transport::update_busy() noexcept {
  busy = unfinished_ != 0 || !to_flush_.empty() || !lingering_sockets_.empty() ||
         (pairs_.empty() && acceptor_.has_clients());
}

// --- time ----------------------------------------------------------------------------------------

/// Makes the timer before the first connection: when descriptors are short, ticks resume the
/// connections that had to wait.
void tcp_transport::make_clock() {
  if (clock_.fd) return;
  unique_fd fd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!fd)
    throw error(errc::system, fmt::format("timerfd_create failed: {}; {}", std::strerror(errno),
                                          runtime::errno_hint(errno)));
  clock_.in = this;
  sockets_->add(fd.get(), EPOLLIN, clock_);
  clock_.fd = std::move(fd);
}

void tcp_transport::want_ticks() noexcept {
  if (clock_.running || !clock_.fd) return;  // no peer yet
  itimerspec when{};
  when.it_value.tv_nsec = std::chrono::nanoseconds(tick_time).count();
  clock_.running = ::timerfd_settime(clock_.fd.get(), 0, &when, nullptr) == 0;
}

void tcp_transport::clock::on_ready(std::uint32_t /*events*/) noexcept {
  std::uint64_t times = 0;
  if (::read(fd.get(), &times, sizeof times) != sizeof times) return;
  running = false;
  in->tick();
}

void tcp_transport::tick() noexcept {
  acceptor_.resume();
  bool again = acceptor_.rests();
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [peer, p] : pairs_) again = p->tick(now) || again;
  if (again) want_ticks();
}

std::chrono::steady_clock::time_point tcp_transport::end_of_reading() noexcept {
  constexpr std::chrono::milliseconds time_to_read{200};
  constexpr std::chrono::seconds together{1};
  const auto now = std::chrono::steady_clock::now();
  if (now - reading_began_ > together) reading_began_ = now;
  return reading_began_ + time_to_read;
}

std::string tcp_transport::explain_frames(std::size_t size) const {
  if (size > max_payload) return {};
  return size <= longest_copied
             ? "it is gathered with others of the same moment, and they leave in one system call"
             : "the kernel takes it from where it is";
}

std::vector<explained_way> tcp_transport::explain_rest(const rest_question& q) const {
  if (q.wanted == rendezvous_scheme::frames) return {};
  if (q.size < shortest_put)
    return {{{},
             fmt::format("by TCP, in frames of {} bytes", max_payload),
             "sent from where it is, and read to where the receive wants it"}};
  return {{{},
           fmt::format("by TCP, in pieces of up to {} bytes", max_write),
           fmt::format(
               "it is {} bytes or more; over one connection on one host, from {} bytes on, it is "
               "lent to the receiver, which copies it, and only {} bytes go with the request",
               shortest_put, shortest_lent, beginning_of_lent)}};
}

}  // namespace weft::transports::tcp
