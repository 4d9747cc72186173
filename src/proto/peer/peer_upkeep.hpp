// SPDX-License-Identifier: Apache-2.0
// Work for peers that is done in passes of the engine.
#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

#include <weft/coro/detail/timer.hpp>
#include <weft/transport/pollable.hpp>

#include "proto/peer/peer.hpp"
#include "proto/services/services.hpp"
#include "proto/support/protocol_coroutine.hpp"
#include "runtime/progress/engine.hpp"

namespace weft::proto {

/// Work for peers that cannot be done where its cause is found, or not at once: long transfers take
/// turns, marked peers fail, as do those that do not let go of what was stopped, messages of peers
/// that have ended are released in slices. Owned by the messenger, polled by the engine. Progress
/// lock held only.
class peer_upkeep final : public pollable, public upkeep {
 public:
  peer_upkeep(const protocol_services& s, const protocol_tables& t) noexcept
      : services_(s), tables_(t), engine_(s.engine) {}

  void note_marked() noexcept override {
    has_marked_ = true;
    owe_pass();
  }
  /// This side gave a peer up: its process is told, at a later pass if there is no memory now.
  void given_up(peer& p) noexcept;
  /// That peer has ended, and its messages are to be released at the next passes.
  void add_to_sweep(peer& p) noexcept {
    p.to_sweep = true;
    p.next_to_sweep = std::exchange(to_sweep_, &p);
    owe_pass();
  }
  void note_starved(frame_writer& w, bool waits) noexcept override {
    if (std::exchange(w.starved, waits) == waits) return;
    waits ? starved_.add(w) : starved_.remove(w);
  }
  void note_budget() noexcept override {
    if (starved_.first && !std::exchange(has_budget_, true)) owe_pass();
  }
  detail::time_point note_stop() noexcept override;
  void has_unsent(bool one_more) noexcept override;
  /// The context ends: close_all releases the messages.
  void stop_sweeping() noexcept;

  unsigned poll() noexcept override;
  bool has_work() noexcept override {
    return has_marked_ || has_budget_ || to_sweep_ || !yielded_.empty();
  }
  void wake_peer() noexcept override {}

 private:
  void add_yielded(waiter& w) noexcept override {
    yielded_.add(w);
    worth_polling = true;
  }
  /// A pass has work here, although no operation may be outstanding.
  void owe_pass() noexcept {
    worth_polling = true;
    update_busy();
    engine_.look_after();
  }
  void update_busy() noexcept {
    busy = unsent_ != 0 || has_marked_ || has_budget_ || has_unreported_ || to_sweep_ != nullptr;
  }
  /// Wakes a thread that sleeps when `look_at_` has come.
  struct alarm final : detail::timer {
    explicit alarm(peer_upkeep& u) noexcept : timer(&rang), upkeep(u) {}
    static void rang(operation& op) noexcept;
    peer_upkeep& upkeep;
    bool is_set = false;
  };

  void look_again(detail::time_point when) noexcept;
  unsigned fail_overdue() noexcept;
  void fail_marked() noexcept;
  void report_failures() noexcept;
  void grant() noexcept;
  void sweep() noexcept;
  void swept() noexcept {
    to_sweep_->to_sweep = false;
    to_sweep_ = to_sweep_->next_to_sweep;
  }

  const protocol_services& services_;
  const protocol_tables& tables_;
  runtime::engine& engine_;
  waiters yielded_;
  bool has_marked_ = false;
  bool has_unreported_ = false;  // connector::given_up had no memory for some peer
  bool has_budget_ = false;      // it may be granted to those that wait
  linked<frame_writer, &frame_writer::starved_before, &frame_writer::starved_after> starved_;
  peer* to_sweep_ = nullptr;                                // the first of those
  std::size_t unsent_ = 0;                                  // peers with unsent frames
  detail::time_point look_at_ = detail::time_point::max();  // for stops that are overdue
  alarm alarm_{*this};
};

}  // namespace weft::proto
