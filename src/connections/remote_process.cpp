// SPDX-License-Identifier: Apache-2.0
#include "connections/remote_process.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "proto/messenger/message_errors.hpp"
#include "wireup/loop/retry_on_bad_alloc.hpp"

namespace weft::connections {

using proto::ended;
using runtime::engine;
using wireup::channel_ptr;

namespace {

/// A process may say good-bye before its last frames have been read: its peer waits for them for so
/// long.
constexpr auto drain_limit = std::chrono::seconds(1);

}  // namespace

remote_process::remote_process(const services& s, const wireup::lane_id& id,
                               std::shared_ptr<proto::peer> p)
    : services_(s), id_(id), peer_(std::move(p)), links_(s, peer_) {}

bool remote_process::has(const channel_ptr& c) const noexcept {
  return std::find(channels_.begin(), channels_.end(), c) != channels_.end();
}

void remote_process::add(const channel_ptr& c) {
  channels_.push_back(c);
  // Over TCP the process runs on another host, and cannot be watched.
  if (c->carries_descriptors() && is_present() && watch_ == 0) watch_process(c);
}

void remote_process::remove(const channel_ptr& c) noexcept { std::erase(channels_, c); }

/// The channel's end tells of most deaths; a child that was made by a bare clone() keeps it open
/// beyond its parent's end.
void remote_process::watch_process(const channel_ptr& c) {
  const auto pidfd = std::make_shared<const unique_fd>(c->process());
  if (!*pidfd) return;  // the channel's end has to do
  links_.set_process(pidfd);
  watch_ = services_.engine.watch_once(pidfd, [weak = std::weak_ptr(c)] {
    // A good-bye may still lie in the channel: it decides between `closed` and `peer_lost`.
    if (const channel_ptr channel = weak.lock()) try {
        channel->process_ended();
      } catch (const std::bad_alloc&) {
        // Then the channel's end tells, later.
      }
  });
}

bool remote_process::end(const ended& how, bool keeps_peer) {
  if (!is_present()) return false;
  state_ = state::ended;
  if (watch_ != 0) services_.engine.unwatch(std::exchange(watch_, 0));
  // The frames of a process that misbehaved are not wanted.
  const bool was_correct = how.why == errc::closed || how.why == errc::peer_lost;
  if (was_correct && !keeps_peer) try {
      how_ = how;
      drain_until_ = std::chrono::steady_clock::now() + drain_limit;
      if (!links_.drain()) {
        state_ = state::draining;
        return true;
      }
    } catch (const std::bad_alloc&) {
      // Then what has been delivered is all.
    }
  end_peer(how, keeps_peer);
  return false;
}

bool remote_process::drain() {
  if (!links_.drain() && std::chrono::steady_clock::now() < drain_until_) return true;
  stop_draining();
  return false;
}

void remote_process::stop_draining() {
  if (state_ != state::draining) return;
  state_ = state::ended;
  end_peer(how_, false);
}

void remote_process::end_peer(const ended& how, bool keeps_peer) {
  wireup::retry_on_bad_alloc([&] {
    const engine::holder hold(services_.engine);
    links_.forget_transports();
    if (!keeps_peer) peer_->end(how);
    links_.drop_unused();
    peer_->drop_link();  // and notes that no frame is left that a multi-rail link could owe
    services_.attempts.forget(*peer_, how.why);
  });
  if (!keeps_peer)
    services_.engine.log().info("{} is gone: {}", proto::name_of(peer_->id()),
                                how.detail.empty() ? "its context has ended" : how.detail);
  // They end soon.
  wireup::retry_on_bad_alloc([&] {
    for (const channel_ptr& c : channels_) c->close();
  });
}

}  // namespace weft::connections
