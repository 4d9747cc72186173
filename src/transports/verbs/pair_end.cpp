// SPDX-License-Identifier: Apache-2.0
// How a pair ends: broken, given up, or in good order.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/os/brief_wait.hpp"
#include "transports/verbs/pair.hpp"
#include "transports/verbs/transport.hpp"

namespace weft::transports::verbs {

namespace {

using clock = std::chrono::steady_clock;

// A connection that broke because its process left or died is followed by the news of that. One
// that breaks for other reasons is lost after this time.
constexpr auto grace = std::chrono::milliseconds(500);
// How many polls the end of a peer waits for its last frames.
constexpr unsigned last_looks = 8;
// How long the end of a link waits until its last frames have arrived.
constexpr auto last_frames = std::chrono::milliseconds(500);
// How long the end of a queue pair waits for the device to report its work as ended.
constexpr auto last_work = std::chrono::milliseconds(50);

/// For a peer known over TCP there is no process id: then it counts as alive.
bool process_lives(pid_t pid) noexcept {
  if (pid == 0) return true;
  const unique_fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return errno != ESRCH;
  pollfd end{process.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) == 0;
}

}  // namespace

/// The end of the queue pair stops a peer in the middle of a read or a write of this side's memory,
/// and this side's device. Frames that were sent before must still arrive.
void pair::let_go() noexcept {
  if (!transfers_.any()) return;
  const bool was_up = open_for_work();
  transfers_.fall_silent();
  send_disconnect();
  shut();
  transfers_.let_go();
  if (was_up) hang_up();
}

/// Tells a peer that sends nothing, and would not notice.
void pair::hang_up() noexcept {
  if (!who_.tell) return;
  try {
    who_.tell(addresses_.message());
  } catch (const std::exception&) {
    // No memory: the peer learns of it when it sends.
  }
}

void pair::broke(std::string_view what) noexcept {
  if (has_ended()) return;
  try {
    trouble_ = what;
  } catch (const std::bad_alloc&) {
    // No memory: the connection is lost without a reason.
  }
  end_soon();
}

void pair::give_up(std::string_view why) noexcept {
  if (connected()) broke(why);
}

/// The control plane is first to say why a peer has ended: it left in good order, or has died.
void pair::end_soon() noexcept {
  stage_ = stage::ended;
  queue_.on().fail();
  ended_at_ = clock::now();
  owner_.want_ticks();
}

void pair::end(errc why) noexcept {
  if (!has_ended()) queue_.on().fail();
  if (std::exchange(stage_, stage::reported) != stage::reported) frame_sink_.on_broken(why);
}

bool pair::tick(clock::time_point now) noexcept {
  if (stage_ != stage::ended || !ended_at_) return false;
  if (now - *ended_at_ < grace) return true;
  if (!trouble_.empty()) owner_.complain(trouble_);
  hang_up();
  end(errc::peer_lost);
  return false;
}

void pair::send_disconnect() noexcept {
  if (!link_ || !open_for_work()) return;
  const auto until = clock::now() + last_frames;
  for (runtime::brief_wait between_looks; !post_own(own_kind::disconnect); between_looks.wait()) {
    if (!open_for_work() || clock::now() > until) return;
    owner_.look_for(*this, false);
  }
  said_all();
  // Waits until everything has arrived: a queue pair that is destroyed drops what was not
  // acknowledged.
  for (runtime::brief_wait between_looks;
       connected() && !queue_.all_done() && queue_.mark() && clock::now() < until;
       between_looks.wait())
    owner_.look_for(*this, false);
}

/// \return whether the peer has all that was sent, this side's disconnect message included, or
///   never will have
bool pair::try_disconnect() noexcept {
  if (!link_ || !connected()) return true;
  if (stage_ == stage::up) {
    if (!post_own(own_kind::disconnect)) return false;
    said_all();
  }
  return !connected() || queue_.all_done() || !queue_.mark();
}

bool pair::drain_peer() noexcept {
  const bool lives = process_lives(who_.pid);
  const bool said_all = !lives || try_disconnect();
  const bool any = owner_.look_for(*this, true);
  if (!accepted_ || stage_ == stage::reported || port_.heard_farewell()) return said_all;
  return !any && (!lives || !connected());
}

/// A few polls, without waiting, however much the peer has sent or still sends.
void pair::forget() noexcept {
  if (process_lives(who_.pid)) try_disconnect();
  for (unsigned n = 0;
       n != last_looks && accepted_ && stage_ != stage::reported && !port_.heard_farewell(); ++n)
    if (!owner_.look_for(*this, true)) break;
  stage_ = stage::reported;  // the caller reports it
  transfers_.fall_silent();
  shut();
  accepted_ = false;
}

/// The end of the queue pair would drop its completions, and the receive that holds half a frame:
/// so the connection is broken first, which ends that receive. Not all devices report when this is
/// done (LAST_WQE_REACHED); but work that is posted on a broken connection ends after it.
void pair::shut() noexcept {
  if (!queue_.is_open()) return;
  if (!has_ended()) stage_ = stage::ended;
  if (accepted_ && !port_.heard_farewell()) {
    queue_.on().fail();
    const auto until = clock::now() + last_work;
    if (queue_.mark_anew())
      for (runtime::brief_wait between_looks; !queue_.all_done() && clock::now() < until;
           between_looks.wait())
        owner_.look_for(*this, false);
  }
  owner_.completed().fetch();
  queue_.shut();
  owner_.completed().retire(*this);
}

void pair::link_ended() noexcept {
  let_go();
  send_disconnect();
  link_ = nullptr;
  owner_.forget_if_idle(*this);
}

}  // namespace weft::transports::verbs
