// SPDX-License-Identifier: Apache-2.0
// What a context waits for, with all its lanes.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <weft/coro/detail/timer.hpp>
#include <weft/dump.hpp>

#include "proto/messenger/pending.hpp"
#include "runtime/trace/progress_state.hpp"

namespace weft::detail {

class core;

/// One lane at one moment.
struct lane_dump {
  unsigned lane = 0;
  bool stuck = false;  ///< the progress lock could not be had, and nothing of the rest is known
  std::uint64_t pending = 0;
  std::uint32_t passes = 0;  ///< in dump_report::observed
  runtime::progress_state state{};
  std::optional<double> first_timer;  ///< seconds until it ends
  std::string progress;
  proto::pending_report what;
};

/// Makes dumps. Takes the progress lock of each lane while it copies what it finds, and gives up
/// after a second: its holder may hang. Any thread, one at a time. Owned by the first lane.
/// docs/adr/0046-dumps.md
class dump_report {
 public:
  /// The time in which passes are counted: longer than a turn of another thread on the same core.
  static constexpr std::chrono::milliseconds observed{20};

  explicit dump_report(core& first_lane);
  /// Takes `observed`, and a second more for each lane that is stuck. Not with the progress lock
  /// held, except by a thread inside run(). \throws std::bad_alloc
  std::string make(dump_format as);

 private:
  std::vector<lane_dump> look();
  lane_dump look_at(core& lane, std::optional<std::uint32_t> passes_before);
  std::string text_of(const std::vector<lane_dump>& lanes) const;
  std::string json_of(const std::vector<lane_dump>& lanes) const;

  core& first_lane_;
  std::mutex one_at_a_time_;
  std::vector<proto::pending_history> before_;  // of each lane; guarded by one_at_a_time_
};

}  // namespace weft::detail
