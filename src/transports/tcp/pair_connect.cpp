// SPDX-License-Identifier: Apache-2.0
// How a pair's connection is made: offers in both directions, and the one of them that counts.
#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "runtime/os/printable.hpp"
#include "transports/tcp/pair.hpp"
#include "transports/tcp/transport.hpp"

namespace weft::transports::tcp {

namespace {

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

token random_token() {
  token t;
  if (::getrandom(t.data(), sizeof t, 0) != sizeof t)
    throw error(errc::system, fmt::format("getrandom failed: {}", std::strerror(errno)));
  return t;
}

}  // namespace

std::unique_ptr<stream_link> pair::open(wireup_message& offer, const counterpart& who) {
  if (never_came())
    throw error(errc::unreachable, end_.how.empty() ? std::string(no_connection) : end_.how);
  if (out_.is_shut) throw error(errc::unreachable, "this side has closed the TCP connection");
  const bool is_first = state_ == state::none;
  if (is_first) stance_ = owner_.stance_towards(who);
  tcp::offer says;
  says.encryption = stance_;
  if (is_first) {
    for (const address& a : owner_.listen(who_.link)) says.where.push_back(to_offer(a));
    says.shown = random_token();
  }
  write(says, offer);
  auto made = std::make_unique<stream_link>(*this);
  out_.link = made.get();
  if (is_first) {
    who_ = who;  // the two proofs are about the channel that carries the offer
    token_ = says.shown;
    enter(state::expecting);
  }
  return made;
}

std::string pair::accept(const wireup_message& offer, const counterpart& who) {
  tcp::offer says;
  std::string refusal = tcp::read(offer, says);
  if (!refusal.empty()) return refusal;
  if (state_ == state::none) stance_ = owner_.stance_towards(who);
  switch (state_) {
    case state::none:
      if (says.joins()) return "there is no TCP connection to join";
      refusal = connect_to(says, who);
      break;
    case state::expecting:
      if (says.joins()) break;  // the connection that the peer is about to make
      // Both began at the same moment.
      if (says.shown == token_) return "the TCP offer makes no sense";
      if (token_ < says.shown) refusal = connect_to(says, who);
      break;
    case state::connecting:
    case state::up:
      // An offer that crossed this side's offer may come after the connection that the latter led
      // to.
      if (!says.joins() && !(has_offered() && says.shown < token_))
        return "there is a TCP connection already";
      break;
    case state::ending:
    case state::ended:
      return "the TCP connection has ended";
  }
  if (!refusal.empty()) return refusal;
  in_.is_accepted = true;
  return {};
}

/// \return why not, for the peer; empty: the connector tries the addresses
std::string pair::connect_to(const offer& o, const counterpart& who) {
  if (net::tls::disagree(stance_, o.encryption))
    return net::tls::text_of_disagreement(stance_, o.encryption);
  std::vector<address> there = plausible_addresses(o, who);
  if (there.empty()) return "it offers none of the addresses where it is";
  if (std::exchange(has_tried_, true)) return std::string(out_of_reach);
  auto tried = std::make_unique<socket_connector>(
      owner_.sockets(), std::move(there), o.shown, who,
      net::tls::encrypt(stance_, o.encryption) ? &owner_.encryption() : nullptr,
      owner_.peer_timeout(), [this](stream_socket made, const std::string& why) {
        const std::unique_ptr<socket_connector> over = std::move(connector_);
        owner_.count_failed_handshakes(over->handshakes_failed());
        if (made)
          connected(std::move(made));
        else
          not_connected(why, reason_for_peer(*over));
      });
  if (!tried->is_under_way()) return std::string(reason_for_peer(*tried));
  connector_ = std::move(tried);
  enter(state::connecting);
  owner_.want_ticks();
  return {};
}

void pair::note(const wireup_message& p) noexcept {
  if (!is_expecting()) return;
  // The peer could not connect to the offered addresses.
  try {
    end_.how = fmt::format("{}: it could not connect to this process: {}", no_connection,
                           runtime::printable(p.bytes, max_reason));
  } catch (const std::bad_alloc&) {
    // No memory: the text is left out.
  }
  end(errc::unreachable);
}

void pair::not_connected(const std::string& why, std::string_view for_peer) noexcept {
  try {
    end_.how = fmt::format("{}: {}. A firewall may be in the way, or WEFT_TCP_INTERFACES may help",
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

void pair::connected(stream_socket made) noexcept {
  prepare(made.fd(), owner_.peer_timeout());
  stays_here_ = tcp::stays_here(made.fd());
  if (stays_here_) use_plain_congestion_control(made.fd());
  socket_ = std::move(made);
  fork_guard_.watch(fd());
  enter(state::up);
  owner_.activate(*this);
  if (out_.link) out_.link->connection_changed();
}

}  // namespace weft::transports::tcp
