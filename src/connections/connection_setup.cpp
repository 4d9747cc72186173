// SPDX-License-Identifier: Apache-2.0
// How connections begin: what the messenger asks for, and what the connection manager reports.
#include "connections/connection_setup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "wireup/job/roster.hpp"
#include "wireup/sockets/locator.hpp"

namespace weft::connections {

using proto::peer;
using runtime::engine;
using transports::wireup_message;
using wireup::channel_ptr;
using wireup::failure;

connection_setup::connection_setup(engine& e, proto::messenger& m, const transport_list& t,
                                   const wireup::job& j, proto::lane_number lane)
    : engine_(e),
      messenger_(m),
      transports_(t),
      job_(j),
      lane_(lane),
      non_ranks_(m),
      processes_({e, t, attempts_}, m, non_ranks_, j, lane) {}

void connection_setup::attach(wireup::connection_manager& m, rank_finder finder,
                              const std::vector<connection_setup*>& lanes) {
  attached_ = &m;
  finder_ = std::move(finder);
  std::vector<const remote_process_table*> tables;
  for (const connection_setup* lane : lanes) tables.push_back(&lane->processes_);
  processes_.attach(m.self(), std::move(tables));
  manager_->open(m);
}

// --- for the messenger ----------------------------------------------------------------------

void connection_setup::connect(peer& p) noexcept {
  try {
    manager_->post([this, p = p.shared_from_this()] { begin(p); });
  } catch (const std::bad_alloc&) {
    p.connection().mark_failed();
  }
}

std::string connection_setup::describe(const peer& p) const {
  if (p.has_ended()) return p.detail();
  if (!p.connection().link())
    return p.met_at.empty() ? "not connected yet" : "connected; its first message makes a link";
  return transports_.describe(p);
}

std::shared_ptr<pending_connection> connection_setup::search_for(const std::shared_ptr<peer>& p) {
  return std::make_shared<pending_connection>(static_cast<pending_connection::owner&>(*this), p);
}

void connection_setup::begin(const std::shared_ptr<peer>& p) {
  if (p->id() == job_.rank()) return open_self(*p);
  if (processes_.is_draining(*p)) return;  // the operations that wait for a link end with it
  if (use_channels(*p)) return;
  const auto search = search_for(p);
  const wireup::identity& self = attached_->self();
  if (proto::names_rank(p->id())) {
    const peer_id rank = proto::place_of(p->id(), lane_).rank;
    if (rank != job_.rank()) return search->locate({}, {errc::peer_lost, absent(rank)});
    return search->connect({self.id, *wireup::parse_locator(self.locator), {}});
  }
  const auto place = non_ranks_.place_of(*p);
  if (place && place->address) return search->connect(*place->address);
  give_up(*p, errc::unreachable, "nothing is known about where it is");
}

// --- lanes ----------------------------------------------------------------------------------

std::shared_ptr<peer> connection_setup::lane_of(const peer& p, unsigned lane) {
  const bool own = p.id() < proto::first_non_rank && place_of(p).rank == job_.rank();
  if (const unsigned all = own ? attached_->lanes() : proto::most_lanes; lane >= all)
    throw error(errc::invalid_argument,
                fmt::format("{} {} lane{} (options::lanes, WEFT_LANES), numbered from 0: there is "
                            "no lane {}",
                            own ? "this process has" : "a context can have", all,
                            all == 1 ? "" : "s", lane));
  const auto wanted = static_cast<proto::lane_number>(lane);
  if (p.id() < proto::first_non_rank)
    return messenger_.peers().at(proto::number_of({place_of(p).rank, wanted}, lane_));
  if (std::shared_ptr<peer> other = non_ranks_.lane_of(p, wanted)) return other;
  throw error(errc::closed, "that peer has gone, and its lanes with it");
}

proto::peer_place connection_setup::place_of(const peer& p) const {
  if (p.id() < proto::first_non_rank) return proto::place_of(p.id(), lane_);
  const auto place = non_ranks_.place_of(p);
  return {no_peer, place ? place->lane : proto::lane_number{0}};
}

wireup::lane_pair connection_setup::lanes_to(const peer& p) const {
  return {lane_, place_of(p).lane};
}

/// The transport `self` needs no channel.
void connection_setup::open_self(peer& p) {
  const engine::holder hold(engine_);
  for (const transport_list::entry& one : transports_) {
    if (!one.transport->reach(true).empty()) continue;
    wireup_message nothing;
    const std::uint32_t credit = p.writer().grant_first_credit();
    attempts_.add(p, {one.name, {}});
    return p.opened(one.transport->open(p, {::getpid(), {}}, nothing), credit);
  }
  p.give_up(errc::unreachable, "the transport `self` is not enabled (WEFT_TRANSPORTS)");
}

/// \return false: there is no channel to that peer
bool connection_setup::use_channels(const peer& p) {
  remote_process* const known = processes_.present(p);
  if (!known) return false;
  known->links().request();
  advance(*known);
  return true;
}

/// What is said of a rank that is nowhere.
std::string connection_setup::absent(peer_id rank) const {
  if (rank < job_.size()) return "it ended before it could be reached";
  return fmt::format(
      "no process has that rank: the job began with {}, and of those that joined none has it, or "
      "not any more",
      job_.size());
}

void connection_setup::give_up(peer& p, errc why, const std::string& detail) {
  const engine::holder hold(engine_);
  p.give_up(why, detail);
}

// --- a pending connection -------------------------------------------------------------------

/// A peer that the other side has closed meanwhile may owe an answer, which goes back the way that
/// the good-bye came.
bool connection_setup::is_wanted(const std::shared_ptr<peer>& p) {
  if (processes_.is_draining(*p)) return false;
  bool owes = false;
  {
    const engine::holder hold(engine_);
    if (!p->has_ended()) return true;
    owes = p->writer().owes_answer();
  }
  if (owes) use_channels(*p);
  return false;
}

/// A rank that this side wants to send to, and neither side has had a link to the other.
bool connection_setup::is_unmet(const peer& p) const {
  const engine::holder hold(engine_);
  return p.id() < proto::first_non_rank && p.writer().unmet();
}

void connection_setup::locate(const peer& p, const std::string& gone,
                              std::function<void(std::string locator)> found) {
  finder_(place_of(p).rank, gone,
          [manager = manager_, found = std::move(found)](const std::string& locator) {
            manager->post([found, locator] { found(locator); });
          });
}

void connection_setup::connect(const peer& p, const std::string& locator,
                               wireup::channel_ready done) {
  attached_->connect(locator, std::move(done), lanes_to(p));
}

void connection_setup::connect(const peer& p, const wireup::unpacked_address& address,
                               wireup::channel_ready done) {
  attached_->connect(address.where, address.key, std::move(done), lanes_to(p));
}

void connection_setup::connected(const std::shared_ptr<peer>& p, const channel_ptr& c,
                                 const failure& why, bool wanted) {
  if (!wanted) {
    if (!c) return;
    if (const auto loss = loss_of(*p)) c->send(pack_reason(loss->why, loss->detail));
    return c->close();
  }
  // No listener was asked: there is no process that could have refused.
  if (!c) return give_up(*p, why.kind == errc::refused ? errc::unreachable : why.kind, why.text);
  remote_process* const process = processes_.enter(c, peer_counts::until_ended);
  if (!process || process->peer() != p) {
    drop(c);
    return give_up(*p, errc::protocol_error, "another process answers where it should be");
  }
  process->links().request();
  advance(*process);
}

// --- channels -------------------------------------------------------------------------------

std::shared_ptr<peer> connection_setup::peer_at(const wireup::unpacked_address& address) {
  if (address.id == attached_->self().id)
    return messenger_.peers().at(proto::number_of({job_.rank(), 0}, lane_));
  return non_ranks_.at(address, 0);
}

namespace {

/// One that came by itself, as people find it. Empty: it is in another container.
std::string words_for(const wireup::channel& from) {
  if (const std::vector<std::string> hosts = from.hosts(); !hosts.empty())
    return "a process of host " + hosts.front();
  return from.peer().pid > 0 ? fmt::format("process {}", from.peer().pid) : std::string();
}

}  // namespace

std::shared_ptr<peer> connection_setup::peer_met(const channel_ptr& c, std::string address) {
  remote_process* const process = processes_.enter(c, peer_counts::until_closing);
  if (!process) return nullptr;
  if (address.empty()) address = words_for(*c);
  std::shared_ptr<peer> met = process->peer();
  const engine::holder hold(engine_);
  if (met->id() >= proto::first_non_rank) met->met_at = std::move(address);
  return met;
}

/// Goes on with the next transport, if a link is wanted.
void connection_setup::advance(remote_process& process) {
  if (!process.is_present()) return;
  switch (process.links().next(process.channels())) {
    case link_negotiation::step::none:
      return;
    case link_negotiation::step::find_socket:
      return find_socket(process);
    case link_negotiation::step::exhausted:
      break;
  }
  // Its peer may have closed it and wait for an answer, which the end of the connection is, too.
  if (counts_no_more(messenger_, *process.peer(), peer_counts::until_ended))
    return end(process, errc::closed);
  give_up(*process.peer(), errc::unreachable,
          "no transport reaches it: " + process.links().refusals());
}

/// As advance, when the present call has returned.
void connection_setup::advance_soon(remote_process& process) {
  attached_->post([this, p = process.peer()] {
    if (remote_process* const present = processes_.present(*p)) advance(*present);
  });
}

/// The process was met over TCP. Whether memory can be shared is found out by trying: neither host
/// names nor addresses tell, but whether its Unix socket answers here.
void connection_setup::find_socket(remote_process& process) {
  const channel_ptr over_tcp = process.channels().front();
  const auto where = wireup::parse_locator(over_tcp->peer().locator);
  attached_->connect(
      where ? where->socket_name : std::string(),
      [this, over_tcp](const channel_ptr& c, const failure& why) {
        remote_process* const found = processes_.with(over_tcp);
        if (!found || !found->is_present()) {
          if (c) c->close();
          return;
        }
        if (c && c->peer().id_of_lane() == found->id()) {
          found->add(c);
          found->links().socket_tried({});
        } else {
          found->links().socket_tried(c ? "another process answers there" : why.text);
          if (c) drop(c);
        }
        advance(*found);
      },
      {lane_, process.id().lane});
}

namespace {

/// This test cannot block, whatever the descriptor is.
bool is_no_memory_file(const unique_fd& fd) noexcept { return ::fcntl(fd.get(), F_GET_SEALS) < 0; }

}  // namespace

void connection_setup::on_wireup_message(const channel_ptr& c, wireup_message m) {
  remote_process* const process = processes_.enter(c, peer_counts::until_ended);
  if (!process || !process->is_present()) return;
  // Closing another descriptor may block, so that there must not be many of them.
  if (!transports_.pass_any_descriptor() &&
      std::any_of(m.fds.begin(), m.fds.end(), is_no_memory_file))
    return give_up(*process, {errc::protocol_error, "it sent a descriptor that is no memory file"});
  // This side may have given the peer up before there was a channel to say so by.
  if (refuse_if_lost(*process->peer())) return;
  link_negotiation& links = process->links();
  std::string nonsense;
  switch (static_cast<link_message_kind>(m.kind)) {
    case link_message_kind::offer:
      nonsense = links.on_offer(c, std::move(m));
      break;
    case link_message_kind::answer:
      links.on_answer(std::move(m), false);
      break;
    case link_message_kind::refusal:
      links.on_answer(std::move(m), true);
      break;
    case link_message_kind::note:
      nonsense = links.on_note(std::move(m));
      break;
    case link_message_kind::given_up:
      return end(*process, {errc::peer_lost, reason_text(m)});
    default:
      nonsense = "it sent a wire-up message that no correct peer sends";
  }
  if (!nonsense.empty()) return give_up(*process, {errc::protocol_error, nonsense});
  if (links.now() == link_negotiation::state::wanted) advance_soon(*process);
}

}  // namespace weft::connections
