// SPDX-License-Identifier: Apache-2.0
// How a peer ends: one that goes in good order, or dies, is heard out first.
#include <algorithm>
#include <new>
#include <utility>

#include "api/links.hpp"
#include "wireup/patiently.hpp"

namespace weft::detail {

using proto::peer;
using runtime::engine;

namespace {
constexpr auto last_words = std::chrono::seconds(1);
constexpr auto between_looks = std::chrono::microseconds(500);
}  // namespace

/// What a peer that goes has sent, and what it has been sent, arrives first, as far as it does so
/// soon: its good-bye may have been faster. Looks once, without waiting. The baton is not held.
/// \return whether there is nothing more; who is lost already has nobody to say it to
bool links::hear_out(const party& who) {
  const engine::holder hold(engine_);
  if (who.peer->now() == peer::state::lost) return true;
  bool all = true;
  for (std::size_t i = 0; i != ways_.size(); ++i)
    for (transports::inlet* inlet : inlets_for(*who.peer, i))
      all = ways_[i].transport->hear_out(*inlet) && all;
  return all;
}

/// It is gone from now on: nothing is opened for it, or taken from it over the control plane. Who
/// was cut off has no last words.
/// \param why, detail what ends the peer, if it has not ended yet
/// \param looks_on the peer does not end with it
void links::end(party& who, errc why, std::string_view detail, bool looks_on) {
  if (std::exchange(who.gone, true)) return;
  if (who.watch != 0) engine_.unwatch(std::exchange(who.watch, 0));
  const bool was_correct = why == errc::closed || why == errc::peer_lost;
  if (was_correct && !looks_on) try {
      if (!hear_out(who)) {
        who.leaving = {why, std::string(detail), std::chrono::steady_clock::now() + last_words};
        return hear_soon();
      }
    } catch (const std::bad_alloc&) {
      who.leaving.reset();  // then what has been heard is all
    }
  finish(who, why, detail, looks_on);
}

/// The other channels, if there are any, end soon.
void links::finish(party& who, errc why, std::string_view detail, bool looks_on) {
  wireup::patiently([&] {
    const engine::holder hold(engine_);
    who.opening.clear();
    for (std::size_t i = 0; i != ways_.size(); ++i)
      for (transports::inlet* inlet : inlets_for(*who.peer, i)) ways_[i].transport->forget(*inlet);
    if (!looks_on) who.peer->lose(why, detail);
    who.unused_bundle.reset();
    who.peer->drop_link();  // and notes that nothing is left that a bundle could owe
    forget_attempts(*who.peer, why);
  });
  wireup::patiently([&] {
    for (const wireup::channel_ptr& other : who.channels) other->close();
  });
}

/// \return the next one
links::party_map::iterator links::finish_leaving(party_map::iterator at) {
  party& who = at->second;
  const departure how = std::move(*who.leaving);
  who.leaving.reset();
  finish(who, how.why, how.detail, false);
  return who.channels.empty() ? drop(at) : std::next(at);
}

/// One timer for all of them. The manager's end waits for it.
void links::hear_soon() {
  if (hears_soon_) return;
  manager_->call_after(between_looks, [this] {
    hears_soon_ = false;
    try {
      hear_all();
    } catch (const std::bad_alloc&) {
      hear_no_more();
    }
  });
  hears_soon_ = true;
}

/// Once each, so that nobody who goes on speaking keeps the control plane from others.
void links::hear_all() {
  const auto now = std::chrono::steady_clock::now();
  bool any = false;
  for (auto at = parties_.begin(); at != parties_.end();) {
    const party& who = at->second;
    if (who.leaving && (hear_out(who) || now >= who.leaving->latest)) {
      at = finish_leaving(at);
      continue;
    }
    any = any || who.leaving;
    ++at;
  }
  if (any) hear_soon();
}

bool links::is_heard_out(const peer& p) const noexcept {
  return std::any_of(parties_.begin(), parties_.end(), [&](const auto& one) {
    return one.second.leaving && one.second.peer.get() == &p;
  });
}

/// The same context comes again, or another program of that rank: it has said all that it had to.
void links::hear_no_more(const wireup::identity& who) {
  if (!hears_soon_) return;
  const auto is_same = [&](const auto& one) {
    return one.first == who.id || (is_ours(who) && one.second.peer->id() == who.rank);
  };
  for (auto at = parties_.begin(); at != parties_.end();) {
    if (!at->second.leaving || !is_same(*at)) {
      ++at;
      continue;
    }
    hear_out(at->second);
    at = finish_leaving(at);
  }
}

void links::hear_no_more() {
  for (auto at = parties_.begin(); at != parties_.end();)
    at = at->second.leaving ? finish_leaving(at) : std::next(at);
}

}  // namespace weft::detail
