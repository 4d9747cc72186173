// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/pair.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "runtime/os/printable.hpp"
#include "transports/tcp/transport.hpp"

namespace weft::transports::tcp {

namespace {

using clock = std::chrono::steady_clock;

// The only reasons that a peer gets about the addresses in its offer. Whether a process listens
// there, or a firewall is in the way, stays hidden from it; a lack of descriptors on this side does
// not.
constexpr std::string_view out_of_reach =
    "none of the addresses that it offers can be reached from here";
constexpr std::string_view no_descriptor =
    "the other side has no file descriptor left for a connection (ulimit -n)";

std::string_view reason_for_peer(const socket_connector& failed) noexcept {
  return failed.lacks_descriptors() ? no_descriptor : out_of_reach;
}

constexpr std::string_view no_connection = "no TCP connection came about";

// The orderly end of a connection is followed by a good-bye over the control plane, the end of a
// process by the news of its death. A peer that closes the connection and stays is lost after this
// time.
constexpr auto grace = std::chrono::milliseconds(500);
// Reads of a leaving peer's bytes at a time, so that other peers have their turn.
constexpr unsigned last_reads = 4;
// Time for a host to answer a probe of the kernel. Less than any peer timeout.
constexpr auto time_to_answer = std::chrono::seconds(1);

token random_token() {
  token t;
  if (::getrandom(t.data(), sizeof t, 0) != sizeof t)
    throw error(errc::system, fmt::format("getrandom failed: {}", std::strerror(errno)));
  return t;
}

}  // namespace

pair::~pair() {
  hang_up();
  enter(stage::ended);
}

void pair::enter(stage s) noexcept {
  stage_ = s;
  review();
}

void pair::review() noexcept {
  const bool unfinished = stage_ == stage::expecting || stage_ == stage::connecting ||
                          (stage_ == stage::up && link_ && link_->blocked());
  if (unfinished != std::exchange(unfinished_, unfinished)) owner_.count_unfinished(unfinished);
}

std::unique_ptr<stream_link> pair::open(wireup_message& offer, const counterpart& who) {
  if (never_came()) throw error(errc::unreachable, why_never());
  if (said_all_) throw error(errc::unreachable, "this side has closed the TCP connection");
  offer_head head{magic, version, 0, {}};
  std::vector<offered_address> where;
  if (stage_ == stage::none) {
    for (const address& a : owner_.listen(who_.link)) where.push_back(a.to_offer());
    head.addresses = static_cast<std::uint16_t>(where.size());
    head.token = random_token();
  }
  const std::size_t tail = where.size() * sizeof(offered_address);
  offer.bytes.resize(sizeof head + tail);
  std::memcpy(offer.bytes.data(), &head, sizeof head);
  if (tail != 0) std::memcpy(offer.bytes.data() + sizeof head, where.data(), tail);

  auto made = std::make_unique<stream_link>(*this);
  link_ = made.get();
  if (stage_ == stage::none) {
    who_ = who;  // the two proofs are about the channel that carries the offer
    token_ = head.token;
    enter(stage::expecting);
  }
  return made;
}

std::string pair::accept(const wireup_message& offer, const counterpart& who) {
  std::string nonsense = "the TCP offer makes no sense";
  offer_head head;
  if (offer.bytes.size() < sizeof head || !offer.fds.empty()) return nonsense;
  std::memcpy(&head, offer.bytes.data(), sizeof head);
  if (head.magic != magic || head.addresses > max_addresses ||
      offer.bytes.size() != sizeof head + head.addresses * sizeof(offered_address))
    return nonsense;
  if (head.version != version)
    return fmt::format("it speaks version {} of the TCP transport, this side {}", head.version,
                       version);
  std::string refusal;
  switch (stage_) {
    case stage::none:
      if (head.addresses == 0) return "there is no TCP connection to join";
      refusal = connect_to(offer, head, who);
      break;
    case stage::expecting:
      if (head.addresses == 0)
        break;  // the offer joins the connection that the peer is about to make
      // Both began at the same moment.
      if (head.token == token_) return nonsense;
      if (token_ < head.token) refusal = connect_to(offer, head, who);
      break;
    case stage::connecting:
    case stage::up:
      // An offer that crossed this side's offer may come after the connection that the latter led
      // to.
      if (head.addresses != 0 && !(has_offered() && head.token < token_))
        return "there is a TCP connection already";
      break;
    case stage::ended:
      return "the TCP connection has ended";
  }
  if (!refusal.empty()) return refusal;
  accepted_ = true;
  return {};
}

/// Whether `at` is an address of the peer's host that this process knows from other sources; other
/// addresses would let the peer learn about hosts that it cannot reach itself.
bool pair::is_plausible(const address& at, const counterpart& who) {
  if (who.hosts.empty()) return at.is_here();
  return std::ranges::any_of(who.hosts, [&](const std::string& host) {
    const auto known = address::of_text(host);
    return known && known->is_host_of(at);
  });
}

/// \return why not, for the peer; empty: the connector tries the addresses
std::string pair::connect_to(const wireup_message& offer, const offer_head& head,
                             const counterpart& who) {
  std::vector<address> there;
  for (std::size_t i = 0; i != head.addresses; ++i) {
    offered_address o;
    std::memcpy(&o, offer.bytes.data() + sizeof head + i * sizeof o, sizeof o);
    const auto a = address::of_offer(o);
    if (a && is_plausible(*a, who)) there.push_back(*a);
  }
  if (there.empty()) return "it offers none of the addresses where it is";
  if (std::exchange(spent_, true)) return std::string(out_of_reach);
  auto tried = std::make_unique<socket_connector>(
      owner_.sockets(), std::move(there), head.token, who, owner_.peer_timeout(),
      [this](unique_fd fd, const std::string& why) {
        const std::unique_ptr<socket_connector> over = std::move(connector_);
        if (fd)
          connected(std::move(fd));
        else
          not_connected(why, reason_for_peer(*over));
      });
  if (!tried->is_under_way()) return std::string(reason_for_peer(*tried));
  connector_ = std::move(tried);
  enter(stage::connecting);
  owner_.want_ticks();
  return {};
}

std::string pair::why_never() const { return how_.empty() ? std::string(no_connection) : how_; }

void pair::note(const wireup_message& p) noexcept {
  if (stage_ != stage::expecting) return;
  // The peer could not connect to the offered addresses.
  try {
    how_ = fmt::format("{}: it could not connect to this process: {}", no_connection,
                       runtime::printable(p.bytes, max_reason));
  } catch (const std::bad_alloc&) {
    // No memory: the text is left out.
  }
  end(errc::unreachable);
}

void pair::not_connected(const std::string& why, std::string_view for_peer) noexcept {
  try {
    how_ = fmt::format("{}: {}. A firewall may be in the way, or WEFT_TCP_INTERFACES may help",
                       no_connection, why);
    const auto said = std::as_bytes(std::span(for_peer));
    wireup_message p;
    p.bytes.assign(said.begin(), said.end());
    who_.tell(std::move(p));
  } catch (const std::exception&) {
    // No memory: the peer learns of it when this side has given up.
  }
  end_soon(errc::unreachable);
}

void pair::connected(unique_fd fd) noexcept {
  prepare(fd.get(), owner_.peer_timeout());
  stays_here_ = tcp::stays_here(fd.get());
  if (stays_here_) use_plain_congestion_control(fd.get());
  socket_ = std::move(fd);
  fork_guard_.watch(socket_.get());
  enter(stage::up);
  owner_.activate(*this);
  if (link_) link_->connection_changed();
}

void pair::on_ready(std::uint32_t /*events*/) noexcept { owner_.activate(*this); }

std::uint32_t pair::wanted_events() const noexcept {
  return link_ && link_->blocked() ? std::uint32_t{EPOLLIN} | EPOLLOUT : std::uint32_t{EPOLLIN};
}

unsigned pair::look() noexcept {
  unsigned events = 0;
  if (link_ && link_->blocked()) {
    if (link_->retry()) ++events;
    review();
  }
  if (stage_ != stage::up) return events + 1;
  if (read()) {
    ++events;
    judge_port();
  }
  return events;
}

/// Reads once, and answers the peer's writes that have been read.
bool pair::read() noexcept {
  const bool came = port_.read(socket_.get(), frame_sink_, owner_.scratch());
  if (const std::uint32_t n = port_.take_owed(); n != 0 && link_) link_->owe_answers(n);
  return came;
}

bool pair::on_read_by_peer(std::uint32_t writes) noexcept {
  for (; writes != 0 && stage_ == stage::up && link_; --writes)
    if (!link_->was_read()) return false;
  return true;
}

void pair::judge_port() noexcept {
  switch (port_.now()) {
    case port::state::open:
      return;
    case port::state::ended:
      return end_soon(errc::peer_lost);
    case port::state::lost:
      return end(errc::peer_lost);
    case port::state::broken:
      return end(errc::protocol_error);
    case port::state::starved:
      return end(errc::out_of_memory);
  }
}

void pair::break_off() noexcept {
  if (socket_) end_soon(errc::peer_lost);
}

/// The control plane is first to say why a peer has ended: it left in good order, or has died.
void pair::end_soon(errc why) noexcept {
  hang_up();
  enter(stage::ended);
  ended_at_ = clock::now();
  ended_why_ = why;
  owner_.want_ticks();
  if (link_) link_->connection_changed();
}

void pair::end(errc why) noexcept {
  hang_up();
  enter(stage::ended);
  connector_.reset();
  ended_why_ = why;
  if (link_) link_->connection_changed();
  if (!std::exchange(reported_, true)) frame_sink_.on_broken(why);
}

void pair::hang_up() noexcept {
  if (!socket_) return;
  if (link_ && link_->has_lent()) reset_on_close(socket_.get());
  owner_.unwatch(*this);
  fork_guard_.drop();
  socket_ = {};
}

void pair::link_blocked() noexcept {
  review();
  owner_.activate(*this);
  owner_.want_ticks();
}

/// The receiving end finds the reason, and delivers the frames that arrived before.
void pair::write_failed() noexcept {
  review();
  owner_.activate(*this);
}

void pair::link_ended() noexcept {
  link_ = nullptr;
  review();
  owner_.forget_if_idle(*this);
}

bool pair::drain_peer() noexcept {
  // The peer may have been accepted, or have connected, have sent all its frames, and have left
  // meanwhile.
  if (stage_ == stage::connecting || stage_ == stage::expecting) owner_.sockets().poll();
  if (stage_ == stage::connecting) return false;
  if (stage_ == stage::expecting && owner_.is_connecting(*this)) return false;
  // Nothing more comes from a host that no longer answers.
  if (stage_ != stage::up || is_unresponsive(fd(), time_to_answer)) return true;
  const bool all_left = !link_ || link_->write_rest();
  if (all_left && !std::exchange(said_all_, true)) ::shutdown(socket_.get(), SHUT_WR);
  for (unsigned n = 0; n != last_reads && port_.now() == port::state::open; ++n)
    if (!read()) break;
  return port_.now() != port::state::open && all_left;
}

/// A few reads, without waiting, however much the peer has sent or still sends.
void pair::forget() noexcept {
  accepted_ = spent_ = false;
  reported_ = true;  // the caller reports it
  connector_.reset();
  if (stage_ == stage::up) {
    if (link_) link_->leave_rest();
    enter(stage::ended);
    for (unsigned n = 0; n != last_reads && port_.now() == port::state::open; ++n)
      if (!read()) break;
  }
  hang_up();
  enter(stage::ended);
  if (link_) link_->connection_changed();
}

bool pair::tick(clock::time_point now) noexcept {
  if (ended_at_ && !reported_) {
    if (now - *ended_at_ >= grace) end(ended_why_);
    return !reported_;
  }
  if (stage_ == stage::connecting) {
    connector_->hurry();
    return true;
  }
  if (stage_ != stage::up) return false;
  const bool waits = unread();
  if (waits != std::exchange(patient_, waits)) {
    // A peer that computes and reads nothing still answers the kernel's probes. The kernel's own
    // timeout would end the connection all the same.
    set_user_timeout(fd(), waits ? std::chrono::seconds(0) : owner_.peer_timeout());
  }
  // An answer may be on its way when this looks for it: it is overdue when it is missing in several
  // ticks in a row.
  const bool overdue = waits && silence(fd()) > owner_.peer_timeout() - time_to_answer;
  doubts_ = overdue ? doubts_ + 1 : 0;
  if (doubts_ * tcp_transport::tick_time >= time_to_answer) end(errc::peer_lost);
  return waits && stage_ == stage::up;
}

bool pair::unread() const noexcept {
  return (link_ && link_->blocked()) || unacknowledged(fd()) != 0;
}

void pair::rest() noexcept {
  port_.rest();
  if (link_) link_->rest();
}

std::string pair::describe() const {
  switch (stage_) {
    case stage::up: {
      const auto here = address::of_socket(fd(), false), there = address::of_socket(fd(), true);
      return here && there ? fmt::format("{} to {}", here->text(), there->text()) : "connected";
    }
    case stage::ended:
      return "the connection has ended";
    default:
      return "being connected";
  }
}

}  // namespace weft::transports::tcp
