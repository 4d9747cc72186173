// SPDX-License-Identifier: Apache-2.0
#include "proto/peer/peer_upkeep.hpp"

#include <algorithm>
#include <new>

#include "proto/frames/connector.hpp"
#include "proto/match/unexpected_memory.hpp"
#include "proto/peer/peer_registry.hpp"
#include "proto/peer/protocol_tables.hpp"
#include "proto/select/select.hpp"

namespace weft::proto {

unsigned peer_upkeep::poll() noexcept {
  worth_polling = false;
  if (has_marked_) [[unlikely]]
    fail_marked();
  if (has_unreported_) [[unlikely]]
    report_failures();
  if (has_budget_) [[unlikely]]
    grant();
  unsigned failed = 0;
  if (look_at_ != detail::time_point::max()) [[unlikely]]
    failed = fail_overdue();
  const bool sweeps = to_sweep_ != nullptr;
  if (sweeps) [[unlikely]]
    sweep();
  if (yielded_.empty()) return sweeps ? failed + 1 : failed;
  yielded_.resume_all(true);
  return 1;
}

/// Each gets what it needs to go on, as long as there is something.
void peer_upkeep::grant() noexcept {
  has_budget_ = false;
  while (starved_.first && services_.memory.left() != 0) {
    frame_writer& w = *starved_.first;
    if (w.flow().is_used_up())
      w.grow_window();
    else
      note_starved(w, false);  // messages of its were received meanwhile
  }
  update_busy();
}

/// A slice in each pass, however much the peers that have ended had sent.
void peer_upkeep::sweep() noexcept {
  if (to_sweep_->receiver().sweep(messages_per_pass)) swept();
  worth_polling = worth_polling || to_sweep_ != nullptr;
  update_busy();
}

void peer_upkeep::stop_sweeping() noexcept {
  while (to_sweep_) swept();
  update_busy();
}

detail::time_point peer_upkeep::note_stop() noexcept {
  const detail::time_point now = engine_.now();
  if (look_at_ == detail::time_point::max()) look_again(now);
  return now;
}

/// \param stopped when the operation was stopped that is the next one to be overdue
void peer_upkeep::look_again(detail::time_point stopped) noexcept {
  look_at_ = stopped + services_.settings.stop_timeout;
  worth_polling = true;
  if (std::exchange(alarm_.is_set, true)) return;
  alarm_.when = look_at_;
  alarm_.on = engine_.has_progress_thread() ? &engine_.background() : nullptr;
  engine_.start_held(alarm_);
}

/// It may have been set for an earlier moment than that which matters by now.
void peer_upkeep::alarm::rang(operation& op) noexcept {
  auto& self = static_cast<alarm&>(op);
  const runtime::engine::completion_holder hold(self.upkeep.engine_, op);
  self.is_set = false;
  if (op.status != errc::ok || self.upkeep.look_at_ == detail::time_point::max()) return;
  self.is_set = true;
  self.when = self.upkeep.look_at_;
  self.upkeep.engine_.start_held(self);
}

/// \return how many peers have failed
unsigned peer_upkeep::fail_overdue() noexcept {
  worth_polling = true;
  const detail::time_point now = engine_.now();
  if (now < look_at_) return 0;
  look_at_ = detail::time_point::max();
  const std::chrono::nanoseconds limit = services_.settings.stop_timeout;
  detail::time_point oldest = detail::time_point::max();
  unsigned failed = 0;
  tables_.peers.for_each([&](peer& p) {
    const detail::time_point stopped = p.oldest_stop();
    if (stopped > now - limit) {
      oldest = std::min(oldest, stopped);
      return;
    }
    ++failed;
    p.give_up(
        errc::peer_lost,
        "an operation was stopped, or a region ended, and it did not answer the withdrawal within "
        "options::stop_timeout (WEFT_STOP_TIMEOUT)");
  });
  if (oldest != detail::time_point::max()) look_again(oldest);
  return failed;
}

void peer_upkeep::fail_marked() noexcept {
  has_marked_ = false;
  update_busy();
  tables_.peers.for_each([](peer& p) {
    const errc why = p.connection().marked_failure();
    if (why == errc::ok) return;
    p.give_up(why, why == errc::out_of_memory ? "no memory for what it must be told"
                                              : "it made this side say more than it reads");
  });
}

/// If there is no memory to tell the process now, a later pass tries again: the peer's end may have
/// freed some.
void peer_upkeep::given_up(peer& p) noexcept {
  try {
    tables_.connections->given_up(p);
    p.unreported = false;
  } catch (const std::bad_alloc&) {
    p.unreported = has_unreported_ = true;
    owe_pass();
  }
}

void peer_upkeep::report_failures() noexcept {
  has_unreported_ = false;
  update_busy();
  tables_.peers.for_each([this](peer& p) {
    if (p.unreported) given_up(p);
  });
}

void peer_upkeep::has_unsent(bool one_more) noexcept {
  one_more ? ++unsent_ : --unsent_;
  update_busy();
  if (one_more) engine_.look_after();
}

}  // namespace weft::proto
