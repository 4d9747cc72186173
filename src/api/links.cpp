// SPDX-License-Identifier: Apache-2.0
#include "api/links.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "proto/select.hpp"
#include "wireup/locator.hpp"
#include "wireup/roster.hpp"

namespace weft::detail {

using proto::peer;
using runtime::engine;
using transports::wireup_message;
using wireup::channel_ptr;

namespace {
constexpr std::string_view has_left = "it has left";
}

bool links::is_self(const peer& p) const noexcept { return p.id() == job_.rank(); }

void links::want(peer& p) {
  try {
    manager_proxy_->post([this, p = p.shared_from_this()] { connect(p); });
  } catch (const std::bad_alloc&) {
    p.connection().mark_failed();
  }
}

void links::fail(const std::shared_ptr<peer>& p, errc why, const std::string& detail) {
  const engine::holder hold(engine_);
  p->fail(why, detail);
}

/// Nobody can tell where that rank is.
std::string links::absent(peer_id rank) const {
  if (rank < job_.size()) return "it ended before it could be reached";
  return fmt::format(
      "nobody has that rank: the job began with {}, and of those that joined none "
      "has it, or not any more",
      job_.size());
}

void links::connect(const std::shared_ptr<peer>& p) {
  if (is_self(*p)) return open_self(p);
  if (is_drained(*p)) return;  // what waits for a link ends with it
  if (connect_to_known(p)) return;
  if (p->id() >= wireup::first_stranger) return connect_to_place(p);
  look_for(p, {}, {errc::peer_lost, absent(p->id())});
}

/// \return false: no channel to it is there
bool links::connect_to_known(const std::shared_ptr<peer>& p) {
  const auto known =
      std::find_if(remote_processes_.begin(), remote_processes_.end(),
                   [&](const auto& one) { return one.second.peer == p && !one.second.gone; });
  if (known == remote_processes_.end()) return false;
  known->second.wants_link = true;
  try_next_way(known->second);
  return true;
}

/// Whether it was closed, or went, while it was being looked for. In the first case it may owe its
/// good-bye an answer, which goes back the way that one came.
bool links::closed_meanwhile(const std::shared_ptr<peer>& p) {
  if (is_drained(*p)) return true;
  bool owes = false;
  {
    const engine::holder hold(engine_);
    if (!p->gone()) return false;
    owes = p->writer().owes_answer();
  }
  if (owes) connect_to_known(p);
  return true;
}

/// \param gone where that rank was found, and is not any more; empty: it was not looked for yet
/// \param trouble what is said of it if it is nowhere else
void links::look_for(const std::shared_ptr<peer>& p, const std::string& gone,
                     const wireup::failure& trouble) {
  finder(p->id(), gone, [this, p, trouble, mail = manager_proxy_](const std::string& locator) {
    mail->post([this, p, trouble, locator] {
      if (closed_meanwhile(p)) return;
      if (locator.empty()) return fail(p, trouble.kind, trouble.text);
      manager_->connect(locator,
                        [this, p, locator](const channel_ptr& c, const wireup::failure& why) {
                          on_connected(p, c, why, locator);
                        });
    });
  });
}

void links::connect_to_place(const std::shared_ptr<peer>& p) {
  std::optional<wireup::unpacked_address> where;
  {
    const std::lock_guard lock(non_rank_peers_mutex_);
    const auto known = std::find_if(non_rank_peers_.begin(), non_rank_peers_.end(),
                                    [&](const auto& one) { return one.second.peer == p; });
    if (known != non_rank_peers_.end()) where = known->second.where;
  }
  if (!where) return fail(p, errc::unreachable, "nothing is known about where it is");
  manager_->connect(
      where->where, where->key,
      [this, p](const channel_ptr& c, const wireup::failure& why) { on_connected(p, c, why, {}); });
}

/// \param locator where a rank was said to be; empty: it is none, and was looked for by its contact
void links::on_connected(const std::shared_ptr<peer>& p, const channel_ptr& c,
                         const wireup::failure& why, const std::string& locator) {
  if (closed_meanwhile(p)) {
    if (c) send_off(c, *p);
    return;
  }
  if (!c && why.kind == errc::peer_lost && !locator.empty() && is_sought(*p))
    return look_for(p, locator, why);
  // Nobody was asked to let it in.
  if (!c) return fail(p, why.kind == errc::refused ? errc::unreachable : why.kind, why.text);
  if (peer_behind(c) != p) {
    leave(c);
    return fail(p, errc::protocol_error, "another process answers where it should be");
  }
  remote_process& who = remote_process_with(c)->second;
  who.wants_link = true;
  try_next_way(who);
}

/// The progress lock is not held. \param afresh one that is being closed counts, too
bool links::is_over(const peer& p, bool afresh) const {
  const engine::holder hold(engine_);
  return afresh ? p.writer().parting() : p.gone();
}

/// The progress lock is not held. One that is lost instead is let in, and refused by its name.
bool links::has_closed(peer_id rank) const {
  const std::shared_ptr<peer> p = messenger_.peers().at(rank);
  const engine::holder hold(engine_);
  return p->now() == peer::state::closed;
}

/// Who has gone is not met again under the same number.
std::shared_ptr<peer> links::non_rank_peer(const wireup::context_id& id, bool afresh) {
  const std::lock_guard lock(non_rank_peers_mutex_);
  known_peer& known = non_rank_peers_[id];
  if (!known.peer || is_over(*known.peer, afresh)) known.peer = messenger_.peers().add();
  return known.peer;
}

std::shared_ptr<peer> links::peer_at(const wireup::unpacked_address& where) {
  if (where.id == manager_->self().id) return messenger_.peers().at(job_.rank());
  std::shared_ptr<peer> known = non_rank_peer(where.id, true);
  const std::lock_guard lock(non_rank_peers_mutex_);
  if (const auto it = non_rank_peers_.find(where.id); it != non_rank_peers_.end())
    it->second.where = where;
  return known;
}

void links::open_self(const std::shared_ptr<peer>& p) {
  const engine::holder hold(engine_);
  for (way& w : ways_) {
    if (!w.transport->reach(true).empty()) continue;
    wireup_message nothing;
    const std::uint32_t credit = p->writer().grant_first_credit();
    attempts_[p.get()].push_back({w.name, {}});
    return p->opened(w.transport->open(*p, {::getpid(), {}}, nothing), credit);
  }
  p->fail(errc::unreachable, "the transport `self` is not enabled (WEFT_TRANSPORTS)");
}

/// A rank of this job, which may grow.
bool links::is_ours(const wireup::identity& who) const noexcept {
  return who.job == job_.id() && who.rank < wireup::first_stranger;
}

/// Who has a context's id has its key. This process's own is nobody else's, and a child that a
/// context's process has forked is not that context; which process it is, the kernel tells on this
/// host, and not always (pid 0).
bool links::is_impostor(const wireup::identity& who) const {
  if (who.id == manager_->self().id) return who.pid != ::getpid();
  const auto [begin, end] = remote_processes_.equal_range(who.id);
  return std::any_of(begin, end, [&](const auto& known) {
    const remote_process& other = known.second;
    return !other.gone &&
           std::any_of(other.channels.begin(), other.channels.end(), [&](const channel_ptr& c) {
             return who.pid != 0 && c->peer().pid != 0 && c->peer().pid != who.pid;
           });
  });
}

bool links::has(const remote_process& who, const channel_ptr& c) noexcept {
  return std::find(who.channels.begin(), who.channels.end(), c) != who.channels.end();
}

links::remote_process_map::iterator links::remote_process_with(const channel_ptr& c) {
  const auto [begin, end] = remote_processes_.equal_range(c->peer().id);
  const auto found = std::find_if(begin, end, [&](const auto& one) { return has(one.second, c); });
  return found == end ? remote_processes_.end() : found;
}

/// A rank is one context at a time, but its command may run one program after the other. Who still
/// knows one of them is not met by another, which looks for the next program here instead.
bool links::is_other_program(const wireup::identity& who) const {
  if (!is_ours(who)) return false;
  const auto other = [&](const wireup::identity& known) {
    return is_ours(known) && known.rank == who.rank && known.id != who.id;
  };
  return other(manager_->self()) ||
         std::any_of(remote_processes_.begin(), remote_processes_.end(), [&](const auto& p) {
           return !p.second.gone && !p.second.channels.empty() &&
                  other(p.second.channels.front()->peer());
         });
}

/// \param afresh as in is_over
links::remote_process& links::remote_process_for(const wireup::identity& who, bool afresh) {
  const auto [begin, end] = remote_processes_.equal_range(who.id);
  const auto known = std::find_if(begin, end, [&](const auto& one) {
    return !one.second.gone && !is_over(*one.second.peer, afresh);
  });
  if (known != end) return known->second;
  std::shared_ptr<peer> p;
  if (is_ours(who)) p = messenger_.peers().at(who.rank);
  if (!p || (afresh && !is_self(*p) && is_over(*p, afresh))) p = non_rank_peer(who.id, afresh);
  remote_process& made = remote_processes_.emplace(who.id, remote_process())->second;
  made.peer = std::move(p);
  return made;
}

std::shared_ptr<peer> links::enter(const channel_ptr& c, bool afresh) {
  if (const auto known = remote_process_with(c); known != remote_processes_.end())
    return known->second.peer;
  const wireup::identity& id = c->peer();
  stop_draining(id);
  const bool has_parted =
      !afresh && is_ours(id) && !remote_processes_.contains(id.id) && has_closed(id.rank);
  if (has_parted || is_impostor(id) || is_other_program(id)) {
    c->close();
    return nullptr;
  }
  remote_process& who = remote_process_for(id, afresh);
  add(who, c);
  return who.peer;
}

std::shared_ptr<peer> links::peer_behind(const channel_ptr& c) { return enter(c, false); }
std::shared_ptr<peer> links::peer_met(const channel_ptr& c) { return enter(c, true); }

void links::add(remote_process& who, const channel_ptr& c) {
  who.channels.push_back(c);
  // Over TCP the peer is elsewhere, and has no process to watch.
  if (c->carries_descriptors() && !who.gone && who.watch == 0) who.watch = watch_death(c);
}

/// The channel's end tells of most deaths; a process that has forked keeps it open beyond its own.
/// \return 0: it cannot be watched
std::uint64_t links::watch_death(const channel_ptr& c) {
  runtime::unique_fd pidfd = c->process();
  if (!pidfd) return 0;  // the channel has to do
  return engine_.watch_once(std::move(pidfd), [weak = std::weak_ptr(c)] {
    // A good-bye may still lie in the channel: it decides between `closed` and `peer_lost`.
    if (const channel_ptr channel = weak.lock()) try {
        channel->process_died();
      } catch (const std::bad_alloc&) {
        // Then the channel's end tells, later.
      }
  });
}

/// What is closed needs no channel; the number of closed ones would grow with each reconnection.
void links::part(peer& p) noexcept {
  try {
    manager_proxy_->post([this, p = p.shared_from_this()] {
      for (auto& [id, who] : remote_processes_)
        if (who.peer == p && !who.gone) return end(who, errc::closed, has_left);
    });
  } catch (const std::bad_alloc&) {
    // Then the channel stays until one of the two contexts ends.
  }
}

void links::on_gone(const channel_ptr& c, bool orderly) {
  const auto it = remote_process_with(c);
  if (it == remote_processes_.end()) return;
  remote_process& who = it->second;
  std::erase(who.channels, c);
  const std::shared_ptr<peer> p = who.peer;
  const bool keeps_peer = orderly && !who.gone && is_sought(*p);
  if (c->misbehaved())
    end(who, errc::protocol_error, "it did what no correct peer does");
  else
    end(who, orderly ? errc::closed : errc::peer_lost,
        orderly ? has_left : std::string_view("its process died or its connection broke"),
        keeps_peer);
  if (who.channels.empty() && !who.draining) drop(it);
  if (keeps_peer) look_for(p, c->peer().locator, {errc::closed, std::string(has_left)});
}

/// Nothing is left to be done with it.
links::remote_process_map::iterator links::drop(remote_process_map::iterator at) {
  const std::lock_guard lock(non_rank_peers_mutex_);
  const auto known = non_rank_peers_.find(at->first);
  if (known != non_rank_peers_.end() && known->second.peer == at->second.peer)
    non_rank_peers_.erase(known);
  return remote_processes_.erase(at);
}

/// A rank that this side wants to send to, and neither side has had a link to the other.
bool links::is_sought(const peer& p) const {
  const engine::holder hold(engine_);
  return p.id() < wireup::first_stranger && p.writer().unmet();
}

/// It sent what no correct peer sends.
void links::cut_off(remote_process& who, std::string_view what) {
  give_up(who, errc::protocol_error, what);
}

/// A channel to somebody who was not looked for. Others that the two have stay.
void links::leave(const channel_ptr& c) {
  if (const auto it = remote_process_with(c); it != remote_processes_.end()) {
    if (it->second.channels.size() == 1) return end(it->second, errc::closed, has_left);
    std::erase(it->second.channels, c);
  }
  c->close();
}

void links::on_exhausted() {
  const engine::holder hold(engine_);
  messenger_.fail_unconnected();
}

void links::on_rank_end(peer_id rank, bool died) {
  if (rank == job_.rank()) return;
  const std::shared_ptr<peer> p = messenger_.peers().at(rank);
  const errc how = died ? errc::peer_lost : errc::closed;
  const std::string_view what = died ? std::string_view("its process died") : has_left;
  for (auto& [id, who] : remote_processes_)
    if (who.peer == p && !who.gone) return end(who, how, what);
  if (is_drained(*p)) return;
  const engine::holder hold(engine_);
  p->lose(how, what);
}

void links::on_leave(peer_id rank) {
  const std::shared_ptr<peer> p = messenger_.peers().at(rank);
  if (is_drained(*p)) return;
  const engine::holder hold(engine_);
  if (p->now() == peer::state::idle) p->fail(errc::closed, has_left);
}

std::string links::describe(const peer& p) const {
  if (p.now() == peer::state::lost || p.now() == peer::state::closed) return p.detail();
  if (!p.connection().link()) return "not connected yet";
  for (std::size_t i = 0; i != ways_.size(); ++i) {
    if (ways_[i].name != p.connection().link()->traits().name) continue;
    const transports::transport& t = *ways_[i].transport;
    proto::multi_rail_link* const several = multi_rail_link_for(p, i);
    if (!several) return t.describe(p);
    std::string text = fmt::format("{} links: ", several->size());
    for (std::size_t n = 0; n != several->size(); ++n)
      text += (n == 0 ? "" : "; ") + t.describe(several->frame_sink(n));
    return text;
  }
  return std::string(p.connection().link()->traits().name);
}

}  // namespace weft::detail
