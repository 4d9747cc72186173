// SPDX-License-Identifier: Apache-2.0
// How connections end: by a close, by the end of a process, or because this side gives a peer up. A
// process that ends in good order, or dies, is drained first.
#include <chrono>
#include <new>
#include <utility>

#include "connections/connection_setup.hpp"
#include "wireup/loop/retry_on_bad_alloc.hpp"

namespace weft::connections {

using proto::ended;
using proto::peer;
using runtime::engine;
using wireup::channel_ptr;

namespace {

constexpr const char* has_left = "it has left";
constexpr auto between_drains = std::chrono::microseconds(500);

}  // namespace

void connection_setup::end(remote_process& process, const ended& how, bool keeps_peer) {
  if (!process.end(how, keeps_peer)) return;
  try {
    drain_soon();
  } catch (const std::bad_alloc&) {
    process.stop_draining();
  }
}

/// The manager's end waits for the timer.
void connection_setup::drain_soon() {
  if (drain_scheduled_) return;
  attached_->call_after(between_drains, [this] {
    drain_scheduled_ = false;
    try {
      if (processes_.drain()) drain_soon();
    } catch (const std::bad_alloc&) {
      processes_.stop_draining();
    }
  });
  drain_scheduled_ = true;
}

void connection_setup::on_ended(const channel_ptr& c, const ended& how) {
  remote_process* const process = processes_.with(c);
  if (!process) return;
  process->remove(c);
  const std::shared_ptr<peer> p = process->peer();
  const bool keeps_peer = how.orderly() && process->is_present() && is_unmet(*p);
  end(*process, how, keeps_peer);
  processes_.erase_if_ended(*process);
  if (keeps_peer) search_for(p)->locate(c->peer().locator, {how.why, how.detail});
}

/// Another process answered than the one that was looked for. Its other channels stay.
void connection_setup::drop(const channel_ptr& c) {
  if (remote_process* const process = processes_.with(c)) {
    if (process->channels().size() == 1) return end(*process, {errc::closed, has_left});
    process->remove(c);
  }
  c->close();
}

void connection_setup::on_exhausted() {
  const engine::holder hold(engine_);
  messenger_.fail_unconnected();
}

/// The peers of a rank's lanes: the one that is reached by the rank's own number, and those of the
/// others that there are. Later ones find out when they look for the rank.
std::vector<std::shared_ptr<peer>> connection_setup::peers_of(peer_id rank) const {
  std::vector<std::shared_ptr<peer>> all{messenger_.peers().at(rank)};
  for (proto::lane_number lane = 0; lane != proto::most_lanes; ++lane) {
    if (lane == lane_) continue;
    if (auto p = messenger_.peers().find(proto::number_of({rank, lane}, lane_)))
      all.push_back(std::move(p));
  }
  return all;
}

void connection_setup::on_rank_ended(peer_id rank, bool died) {
  if (rank == job_.rank()) return;
  const ended how = died ? ended(errc::peer_lost, "its process died, or ended with a failure")
                         : ended(errc::closed, has_left);
  for (const std::shared_ptr<peer>& p : peers_of(rank)) {
    if (remote_process* const process = processes_.present(*p)) {
      end(*process, how);
    } else if (!processes_.is_draining(*p)) {
      const engine::holder hold(engine_);
      p->end(how);
    }
  }
}

void connection_setup::on_rank_left(peer_id rank) {
  for (const std::shared_ptr<peer>& p : peers_of(rank)) {
    if (processes_.is_draining(*p)) continue;
    const engine::holder hold(engine_);
    if (p->now() == peer::state::idle) p->end({errc::closed, has_left});
  }
}

/// A closed peer needs no channel, and the number of closed ones would grow with each reconnection.
void connection_setup::disconnected(peer& p) noexcept {
  try {
    manager_->post([this, p = p.shared_from_this()] {
      if (remote_process* const process = processes_.present(*p))
        end(*process, {errc::closed, has_left});
    });
  } catch (const std::bad_alloc&) {
    // Then the channel stays until one of the two contexts ends.
  }
}

// --- this side gives a peer up --------------------------------------------------------------

void connection_setup::given_up(peer& p) {
  manager_->post([this, p = p.shared_from_this()] {
    wireup::retry_on_bad_alloc([&] { refuse_if_lost(*p); });
  });
}

/// The progress lock is not held. Nothing: the peer is not lost.
std::optional<ended> connection_setup::loss_of(const peer& p) const {
  const engine::holder hold(engine_);
  if (p.now() != peer::state::lost) return {};
  return ended(p.why(), p.detail());
}

/// \return whether the peer is lost; then its process has been told so
bool connection_setup::refuse_if_lost(const peer& p) {
  const auto loss = loss_of(p);
  if (!loss) return false;
  if (remote_process* const process = processes_.present(p)) give_up(*process, *loss);
  return true;
}

/// The reason goes by every channel: the good-bye by one must not come before the reason by
/// another.
void connection_setup::give_up(remote_process& process, const ended& how) {
  for (const channel_ptr& c : process.channels()) c->send(pack_reason(how.why, how.detail));
  end(process, how);
}

}  // namespace weft::connections
