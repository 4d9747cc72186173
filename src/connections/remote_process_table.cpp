// SPDX-License-Identifier: Apache-2.0
#include "connections/remote_process_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "wireup/job/roster.hpp"

namespace weft::connections {

using wireup::channel_ptr;
using wireup::identity;

remote_process* remote_process_table::with(const channel_ptr& c) {
  const auto [begin, end] = processes_.equal_range(c->peer().id_of_lane());
  const auto found = std::find_if(begin, end, [&](const auto& one) { return one.second.has(c); });
  return found == end ? nullptr : &found->second;
}

remote_process* remote_process_table::present(const proto::peer& p) {
  for (auto& [id, process] : processes_)
    if (process.peer().get() == &p && process.is_present()) return &process;
  return nullptr;
}

bool remote_process_table::is_draining(const proto::peer& p) const noexcept {
  return std::any_of(processes_.begin(), processes_.end(), [&](const auto& one) {
    return one.second.now() == remote_process::state::draining && one.second.peer().get() == &p;
  });
}

/// A rank of this job, which may grow.
bool remote_process_table::is_ours(const identity& id) const noexcept {
  return id.job == job_.id() && id.rank < proto::most_ranks;
}

/// Of a rank's peer.
peer_id remote_process_table::number_of(const identity& id) const noexcept {
  return proto::number_of({id.rank, id.lane}, lane_);
}

/// Whether that rank's peer is closed. A rank that is lost instead is let in, and then refused by
/// name. The progress lock is not held.
bool remote_process_table::has_closed(const identity& id) const {
  if (!is_ours(id) || processes_.contains(id.id_of_lane())) return false;
  const std::shared_ptr<proto::peer> p = messenger_.peers().at(number_of(id));
  const runtime::engine::holder hold(services_.engine);
  return p->now() == proto::peer::state::closed;
}

/// A process with a context's id has its key. No other process has this context's id, and a child
/// that a context's process has forked is not that context; the kernel tells which process it is,
/// on this host, and not always (pid 0).
bool remote_process_table::is_impostor(const identity& id) const {
  if (id.id == self_->id) return id.pid != ::getpid();
  const auto [begin, end] = processes_.equal_range(id.id_of_lane());
  return std::any_of(begin, end, [&](const auto& known) {
    const remote_process& other = known.second;
    return other.is_present() &&
           std::any_of(other.channels().begin(), other.channels().end(), [&](const channel_ptr& c) {
             return id.pid != 0 && c->peer().pid != 0 && c->peer().pid != id.pid;
           });
  });
}

/// A rank is one context at a time, but its command may run one program after the other. A context
/// that still knows one of them is not met by another, which looks for the next program here
/// instead.
bool remote_process_table::is_other_program(const identity& id) const {
  if (!is_ours(id)) return false;
  return is_other_rank(*self_, id) ||
         std::any_of(all_.begin(), all_.end(), [&](const remote_process_table* lane) {
           return lane->knows_other_program(id);
         });
}

/// Whether both claim the same rank, and are not one context.
bool remote_process_table::is_other_rank(const identity& known, const identity& id) const noexcept {
  return is_ours(known) && known.rank == id.rank && known.id != id.id;
}

bool remote_process_table::knows_other_program(const identity& id) const {
  return std::any_of(processes_.begin(), processes_.end(), [&](const auto& one) {
    const remote_process& process = one.second;
    return process.is_present() && !process.channels().empty() &&
           is_other_rank(process.channels().front()->peer(), id);
  });
}

remote_process& remote_process_table::process_of(const identity& id, peer_counts counts) {
  const auto [begin, end] = processes_.equal_range(id.id_of_lane());
  const auto known = std::find_if(begin, end, [&](const auto& one) {
    return one.second.is_present() && !counts_no_more(messenger_, *one.second.peer(), counts);
  });
  if (known != end) return known->second;
  std::shared_ptr<proto::peer> p;
  if (is_ours(id)) p = messenger_.peers().at(number_of(id));
  const bool fresh = p && counts == peer_counts::until_closing && p->id() != job_.rank() &&
                     counts_no_more(messenger_, *p, counts);
  if (!p || fresh) p = non_ranks_.with(id, counts);
  return processes_
      .emplace(std::piecewise_construct, std::forward_as_tuple(id.id_of_lane()),
               std::forward_as_tuple(services_, id.id_of_lane(), std::move(p)))
      ->second;
}

remote_process* remote_process_table::enter(const channel_ptr& c, peer_counts counts) {
  if (remote_process* const known = with(c)) return known;
  const identity& id = c->peer();
  stop_draining(id);
  const bool has_ended = counts == peer_counts::until_ended && has_closed(id);
  if (has_ended || is_impostor(id) || is_other_program(id)) {
    c->close();
    return nullptr;
  }
  remote_process& process = process_of(id, counts);
  process.add(c);
  return &process;
}

remote_process_table::map::iterator remote_process_table::erase(map::iterator at) {
  non_ranks_.erase(at->first, *at->second.peer());
  return processes_.erase(at);
}

void remote_process_table::erase_if_ended(remote_process& p) {
  if (!p.channels().empty() || p.now() == remote_process::state::draining) return;
  const auto [begin, end] = processes_.equal_range(p.id());
  const auto found = std::find_if(begin, end, [&](const auto& one) { return &one.second == &p; });
  if (found != end) erase(found);
}

/// \return the next one
remote_process_table::map::iterator remote_process_table::stop_draining(map::iterator at) {
  at->second.stop_draining();
  return at->second.channels().empty() ? erase(at) : std::next(at);
}

bool remote_process_table::drain() {
  bool any = false;
  for (auto at = processes_.begin(); at != processes_.end();) {
    if (at->second.now() != remote_process::state::draining) {
      ++at;
    } else if (at->second.drain()) {
      any = true;
      ++at;
    } else {
      at = at->second.channels().empty() ? erase(at) : std::next(at);
    }
  }
  return any;
}

/// The same context comes again, or another program of that rank: the old one has sent all that it
/// had to.
void remote_process_table::stop_draining(const identity& of) {
  for (auto at = processes_.begin(); at != processes_.end();) {
    const bool same =
        at->first == of.id_of_lane() || (is_ours(of) && at->second.peer()->id() == number_of(of));
    if (!same || at->second.now() != remote_process::state::draining) {
      ++at;
      continue;
    }
    at->second.drain();
    at = stop_draining(at);
  }
}

void remote_process_table::stop_draining() {
  for (auto at = processes_.begin(); at != processes_.end();)
    at = at->second.now() == remote_process::state::draining ? stop_draining(at) : std::next(at);
}

}  // namespace weft::connections
