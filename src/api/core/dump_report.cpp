// SPDX-License-Identifier: Apache-2.0
#include "api/core/dump_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <thread>

#include "api/core/core.hpp"

namespace weft::detail {

using runtime::engine;

namespace {

constexpr std::size_t most_lines = 50;  // of each kind
// Long enough for a long copy, which one pass makes.
constexpr auto longest_wait = std::chrono::seconds(1);
constexpr auto between_tries = std::chrono::microseconds(200);

/// The progress lock, or (false) not: its holder may hang.
class timed_holder {
 public:
  explicit timed_holder(engine& e) : engine_(e), holds_(try_it()) {
    const auto end = std::chrono::steady_clock::now() + longest_wait;
    while (!holds_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(between_tries);
      holds_ = try_it();
    }
  }
  ~timed_holder() {
    if (holds_) engine_.leave();
  }
  timed_holder(const timed_holder&) = delete;
  timed_holder& operator=(const timed_holder&) = delete;
  explicit operator bool() const noexcept { return holds_; }

 private:
  /// The thread inside run() takes it in its own way, which does not wait for long.
  bool try_it() noexcept {
    if (!engine_.leads_here()) return engine_.try_enter();
    engine_.enter();
    return true;
  }

  engine& engine_;
  bool holds_;
};

const char* words_for(runtime::progress_state s) noexcept {
  switch (s) {
    case runtime::progress_state::polling:
      return "the thread inside run() polls";
    case runtime::progress_state::asleep:
      return "the thread inside run() sleeps until something comes";
    default:
      return "the application is in its own code";
  }
}

}  // namespace

dump_report::dump_report(core& first_lane)
    : first_lane_(first_lane), before_(first_lane.plane().lanes().size()) {}

std::string dump_report::make(dump_format as) {
  const std::lock_guard lock(one_at_a_time_);
  const std::vector<lane_dump> lanes = look();
  return as == dump_format::json ? json_of(lanes) : text_of(lanes);
}

std::vector<lane_dump> dump_report::look() {
  const std::vector<core*>& lanes = first_lane_.plane().lanes();
  std::vector<std::optional<std::uint32_t>> passes;
  for (core* lane : lanes) {
    const timed_holder hold(lane->engine());
    passes.push_back(hold ? std::optional(lane->engine().passes()) : std::nullopt);
  }
  std::this_thread::sleep_for(observed);
  std::vector<lane_dump> all;
  for (std::size_t i = 0; i != lanes.size(); ++i) all.push_back(look_at(*lanes[i], passes[i]));
  return all;
}

lane_dump dump_report::look_at(core& lane, std::optional<std::uint32_t> passes_before) {
  lane_dump one;
  one.lane = lane.lane();
  engine& e = lane.engine();
  std::optional<timed_holder> hold;
  if (passes_before) hold.emplace(e);
  one.stuck = !hold || !*hold;
  if (one.stuck) return one;
  one.pending = e.outstanding();
  one.passes = e.passes() - *passes_before;
  one.state = e.state();
  if (const auto first = e.next_deadline(); first != time_point::max())
    one.first_timer = std::chrono::duration<double>(first - e.now()).count();
  one.progress = e.describe();
  one.what = proto::look_at_pending(lane.messenger(), most_lines, before_[one.lane]);
  return one;
}

std::string dump_report::text_of(const std::vector<lane_dump>& lanes) const {
  const wireup::job& job = first_lane_.plane().job();
  const std::string process = job.launched() ? fmt::format("weft: rank {}: ", job.rank())
                                             : fmt::format("weft: process {}: ", ::getpid());
  std::string all;
  for (const lane_dump& one : lanes) {
    const std::string prefix =
        lanes.size() == 1 ? process : fmt::format("{}lane {}: ", process, one.lane);
    const auto add = [&](const std::string& line) { all += prefix + line + '\n'; };
    if (one.stuck) {
      add("a thread has held the progress lock for a second, so that nothing is known of the "
          "operations: an inline handler, or a completion of an external loop, does not return");
      continue;
    }
    add(fmt::format("pending operations: {}; passes in {} ms: {}, {}{}", one.pending,
                    observed.count(), one.passes, words_for(one.state),
                    one.first_timer
                        ? fmt::format("; the first timer ends in {:.1f} s", *one.first_timer)
                        : ""));
    add("progress: " + one.progress);
    for (const std::string& line : proto::texts_of(one.what)) add(line);
  }
  return all;
}

}  // namespace weft::detail
