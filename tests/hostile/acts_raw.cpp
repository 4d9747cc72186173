// SPDX-License-Identifier: Apache-2.0
// The control plane without a connection manager: connection requests, hellos, and channels that
// are never read.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "acts.hpp"
#include "frames.hpp"
#include "services.hpp"
#include "wireup/auth/introduction.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace hostile {

namespace wireup = weft::wireup;

namespace {

int say(const wireup::opened& to, const wireup::frame& f) {
  return wireup::send_packet(to.fd.get(), wireup::frame_header::of(f), f.body, f.fds);
}

/// The victim's invitation, if it comes soon.
std::optional<wireup::frame> invitation_from(scene& s, const wireup::opened& from) {
  constexpr int most_looks = 500;
  std::array<std::byte, 4096> buffer;
  for (int looks = 0; looks != most_looks; ++looks) {
    const ssize_t n = ::recv(from.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0)
      return wireup::frame_header::parse(std::span(buffer).first(static_cast<std::size_t>(n)), {});
    if (n == 0 || errno != EAGAIN) break;
    s.wait(std::chrono::microseconds(100));
  }
  return {};
}

/// Uses a key of its own, so that the listener accepts the hello; the rest of the hello may be
/// false.
/// \return whether the hello was sent
bool say_hello(scene& s, const wireup::opened& to, const wireup::hello& h) {
  const auto invitation = invitation_from(s, to);
  if (!invitation) return false;
  const wireup::context_key key;
  wireup::initiator one(key, {});
  return one.hear(*invitation).value && say(to, one.greet(h)) == 0;
}

}  // namespace

/// Connections that say nothing, and hold a place at the listener.
void send_bad_clients(scene& s, dice& d) {
  const std::string listening(s.on().listening.get());
  const std::string name = d.percent(50) || s.victim.locator.empty()
                               ? "weft-door:" + std::to_string(::geteuid()) + ":" +
                                     listening.substr(listening.find("//") + 2)
                               : s.victim.locator.substr(0, s.victim.locator.find(','));
  // 64 would block other connections for five seconds, for which no seed has the time: tests/fault
  // does that.
  constexpr std::size_t most = 40;
  for (std::uint64_t left = d.between(1, 20); left != 0 && s.sockets.size() < most; --left)
    if (wireup::opened socket = wireup::connect_abstract(name); socket.fd)
      s.sockets.push_back(std::move(socket.fd));
}

/// Offers that are refused, over a channel whose answers the attacker does not read.
void offer_unheard(scene& s, dice& d) {
  if (s.victim.locator.empty()) return;
  wireup::opened socket =
      wireup::connect_abstract(s.victim.locator.substr(0, s.victim.locator.find(',')));
  if (!socket.fd) return;
  wireup::hello h;
  h.who.locator = wireup::random_socket_name();
  if (!say_hello(s, socket, h)) return;
  wireup::frame f;
  f.kind = wireup::frame_kind::wireup_message;
  f.detail = static_cast<std::uint8_t>(wireup_message_kind::offer);
  f.body.resize(sizeof(wireup_message_head) + 24);
  const wireup_message_head head{1, 0, 0, 0};
  std::memcpy(f.body.data(), &head, sizeof head);
  const std::uint64_t many = d.percent(5) ? 60'000 : d.between(100, 2000);
  std::uint64_t sent = 0;
  for (unsigned full = 0; sent != many && full != 200;) {
    const int fault = say(socket, f);
    if (fault == 0) {
      ++sent;
      full = 0;
    } else if (fault == EAGAIN) {
      ++full;
      s.wait(std::chrono::microseconds(20));
    } else {
      break;
    }
  }
  s.say("  {} offers", sent);
  s.sockets.push_back(std::move(socket.fd));
}

/// A hello made by the attacker, over a Unix socket, and something behind it.
void say_hello_as_another(scene& s, dice& d) {
  if (s.victim.locator.empty()) return;
  wireup::hello h;
  h.why = static_cast<wireup::purpose>(d.below(3));
  h.who.id = wireup::random_id();
  h.who.locator = wireup::random_socket_name();
  const honest_notes& other = s.on().honest[d.below(2)];
  switch (d.below(6)) {
    case 0:
      h.who = s.victim;
      break;
    case 1:
      h.who.id = other.id;
      h.who.locator = other.locator.get();
      break;
    case 2:
      h.who.job = s.victim.job;
      h.who.rank = static_cast<weft::peer_id>(d.below(3));
      break;
    case 3:
      h.who.locator = s.victim.locator;
      break;
    case 4:
      if (guise* const g = s.any_guise(d)) h.who = g->self();
      break;
    default:
      h.who.rank = static_cast<weft::peer_id>(any_word(d));
  }
  h.listener_number = d.percent(50) ? 0 : any_word(d);
  h.ticket = any_word(d);
  h.private_data = d.one_of(service_names);
  const bool at_listener = d.percent(30);
  const std::string listening(s.on().listening.get());
  const std::string name = at_listener ? "weft-door:" + std::to_string(::geteuid()) + ":" +
                                             listening.substr(listening.find("//") + 2)
                                       : s.victim.locator.substr(0, s.victim.locator.find(','));
  wireup::opened socket = wireup::connect_abstract(name);
  if (!socket.fd) return;
  s.say("  hello to {} as {}, rank {}", name, wireup::to_text(h.who.id), h.who.rank);
  // Or with the id of another context, and no proof.
  if (d.percent(20) ? say(socket, wireup::encode(h)) != 0 : !say_hello(s, socket, h)) return;
  for (std::uint64_t more = d.below(4); more != 0; --more) {
    wireup::frame f;
    f.kind = static_cast<wireup::frame_kind>(d.percent(60) ? 4 : d.below(24));
    f.detail =
        static_cast<std::uint8_t>(f.kind == wireup::frame_kind::wireup_message ? d.below(6) : 0);
    f.body = some_bytes(d, 100);
    say(socket, f);
  }
  if (d.percent(30)) say(socket, {wireup::frame_kind::bye, 0, {}, {}});
  if (d.percent(50)) s.sockets.push_back(std::move(socket.fd));
}

}  // namespace hostile
