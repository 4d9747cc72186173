// SPDX-License-Identifier: Apache-2.0
// How a peer ends: one that goes in good order, or dies, is heard out first.
#include <algorithm>
#include <new>
#include <utility>

#include "api/links.hpp"
#include "wireup/retry_on_bad_alloc.hpp"

namespace weft::detail {

using proto::peer;
using runtime::engine;

namespace {
constexpr auto last_words = std::chrono::seconds(1);
constexpr auto between_looks = std::chrono::microseconds(500);
}  // namespace

/// What a peer that goes has sent, and what it has been sent, arrives first, as far as it does so
/// soon: its good-bye may have been faster. Looks once, without waiting. The progress lock is not
/// held. \return whether there is nothing more; who is lost already has nobody to say it to
bool links::drain_peer(const remote_process& who) {
  const engine::holder hold(engine_);
  if (who.peer->now() == peer::state::lost) return true;
  bool all = true;
  for (std::size_t i = 0; i != ways_.size(); ++i)
    for (transports::frame_sink* frame_sink : frame_sinks_for(*who.peer, i))
      all = ways_[i].transport->drain_peer(*frame_sink) && all;
  return all;
}

/// It is gone from now on: nothing is opened for it, or taken from it over the control plane. Who
/// was cut off has no last words.
/// \param why, detail what ends the peer, if it has not ended yet
/// \param keeps_peer the peer does not end with it
void links::end(remote_process& who, errc why, std::string_view detail, bool keeps_peer) {
  if (std::exchange(who.gone, true)) return;
  if (who.watch != 0) engine_.unwatch(std::exchange(who.watch, 0));
  const bool was_correct = why == errc::closed || why == errc::peer_lost;
  if (was_correct && !keeps_peer) try {
      if (!drain_peer(who)) {
        who.draining = {why, std::string(detail), std::chrono::steady_clock::now() + last_words};
        return drain_soon();
      }
    } catch (const std::bad_alloc&) {
      who.draining.reset();  // then what has been heard is all
    }
  finish(who, why, detail, keeps_peer);
}

/// The other channels, if there are any, end soon.
void links::finish(remote_process& who, errc why, std::string_view detail, bool keeps_peer) {
  wireup::retry_on_bad_alloc([&] {
    const engine::holder hold(engine_);
    who.opening.clear();
    for (std::size_t i = 0; i != ways_.size(); ++i)
      for (transports::frame_sink* frame_sink : frame_sinks_for(*who.peer, i))
        ways_[i].transport->forget(*frame_sink);
    if (!keeps_peer) who.peer->lose(why, detail);
    who.unused_multi_rail_link.reset();
    who.peer->drop_link();  // and notes that nothing is left that a multi-rail link could owe
    forget_attempts(*who.peer, why);
  });
  wireup::retry_on_bad_alloc([&] {
    for (const wireup::channel_ptr& other : who.channels) other->close();
  });
}

/// \return the next one
links::remote_process_map::iterator links::finish_drain(remote_process_map::iterator at) {
  remote_process& who = at->second;
  const drain_state how = std::move(*who.draining);
  who.draining.reset();
  finish(who, how.why, how.detail, false);
  return who.channels.empty() ? drop(at) : std::next(at);
}

/// One timer for all of them. The manager's end waits for it.
void links::drain_soon() {
  if (drain_scheduled_) return;
  manager_->call_after(between_looks, [this] {
    drain_scheduled_ = false;
    try {
      drain_all_peers();
    } catch (const std::bad_alloc&) {
      stop_draining();
    }
  });
  drain_scheduled_ = true;
}

/// Once each, so that nobody who goes on speaking keeps the control plane from others.
void links::drain_all_peers() {
  const auto now = std::chrono::steady_clock::now();
  bool any = false;
  for (auto at = remote_processes_.begin(); at != remote_processes_.end();) {
    const remote_process& who = at->second;
    if (who.draining && (drain_peer(who) || now >= who.draining->latest)) {
      at = finish_drain(at);
      continue;
    }
    any = any || who.draining;
    ++at;
  }
  if (any) drain_soon();
}

bool links::is_drained(const peer& p) const noexcept {
  return std::any_of(remote_processes_.begin(), remote_processes_.end(), [&](const auto& one) {
    return one.second.draining && one.second.peer.get() == &p;
  });
}

/// The same context comes again, or another program of that rank: it has said all that it had to.
void links::stop_draining(const wireup::identity& who) {
  if (!drain_scheduled_) return;
  const auto is_same = [&](const auto& one) {
    return one.first == who.id || (is_ours(who) && one.second.peer->id() == who.rank);
  };
  for (auto at = remote_processes_.begin(); at != remote_processes_.end();) {
    if (!at->second.draining || !is_same(*at)) {
      ++at;
      continue;
    }
    drain_peer(at->second);
    at = finish_drain(at);
  }
}

void links::stop_draining() {
  for (auto at = remote_processes_.begin(); at != remote_processes_.end();)
    at = at->second.draining ? finish_drain(at) : std::next(at);
}

}  // namespace weft::detail
