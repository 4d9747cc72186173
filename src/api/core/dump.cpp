// SPDX-License-Identifier: Apache-2.0
#include "api/core/dump.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>
#include <thread>

#include "api/core/core.hpp"
#include "runtime/os/standard_error.hpp"

namespace weft::detail {

using runtime::engine;

namespace {

constexpr std::size_t most_lines = 50;  // of each kind
// Long enough for a long copy, which one pass makes.
constexpr auto longest_wait = std::chrono::seconds(1);
constexpr auto between_tries = std::chrono::microseconds(200);
// In which passes are counted: longer than a turn of another thread on the same core.
constexpr auto observed = std::chrono::milliseconds(20);

/// The progress lock, or (false) not: its holder may hang.
class timed_holder {
 public:
  explicit timed_holder(engine& e) : engine_(e), holds_(e.try_enter()) {
    const auto end = std::chrono::steady_clock::now() + longest_wait;
    while (!holds_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(between_tries);
      holds_ = engine_.try_enter();
    }
  }
  ~timed_holder() {
    if (holds_) engine_.leave();
  }
  timed_holder(const timed_holder&) = delete;
  timed_holder& operator=(const timed_holder&) = delete;
  explicit operator bool() const noexcept { return holds_; }

 private:
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

dump::dump(core& first_lane, int number)
    : first_lane_(first_lane),
      number_(number),
      before_(first_lane.plane().lanes().size()),
      signal_(number, [this] { print(); }) {}

std::string dump::describe() const {
  return fmt::format("dumps: {}SIG{}\n",
                     signal_.is_installed() ? "by " : "none, the application handles ",
                     ::sigabbrev_np(number_));
}

void dump::print() noexcept {
  try {
    runtime::write_to_standard_error(text());
  } catch (const std::exception& e) {
    first_lane_.plane().log()->error("no dump: {}", e.what());
  }
}

std::string dump::text() {
  std::vector<std::optional<std::uint32_t>> passes;
  for (core* lane : first_lane_.plane().lanes()) {
    const timed_holder hold(lane->engine());
    passes.push_back(hold ? std::optional(lane->engine().passes()) : std::nullopt);
  }
  std::this_thread::sleep_for(observed);
  std::string all;
  for (std::size_t i = 0; i != passes.size(); ++i)
    add_lane(all, *first_lane_.plane().lanes()[i], passes[i]);
  return all;
}

void dump::add_lane(std::string& to, core& lane, std::optional<std::uint32_t> passes_before) {
  const wireup::job& job = first_lane_.plane().job();
  std::string prefix = job.launched() ? fmt::format("weft: rank {}: ", job.rank())
                                      : fmt::format("weft: process {}: ", ::getpid());
  if (before_.size() != 1) prefix += fmt::format("lane {}: ", lane.lane());
  const auto add = [&](const std::string& line) { to += prefix + line + '\n'; };

  engine& e = lane.engine();
  std::optional<timed_holder> hold;
  if (passes_before) hold.emplace(e);
  if (!hold || !*hold)
    return add(
        "a thread has held the progress lock for a second, so that nothing is known of the "
        "operations: an inline handler, or a completion of an external loop, does not return");
  const auto first_timer = e.next_deadline();
  const std::string timer =
      first_timer == time_point::max()
          ? ""
          : fmt::format("; the first timer ends in {:.1f} s",
                        std::chrono::duration<double>(first_timer - e.now()).count());
  add(fmt::format("pending operations: {}; passes in {} ms: {}, {}{}", e.outstanding(),
                  observed.count(), e.passes() - *passes_before, words_for(e.state()), timer));
  add("progress: " + e.describe());
  for (const std::string& line :
       proto::describe_pending(lane.messenger(), most_lines, before_[lane.lane()]))
    add(line);
}

}  // namespace weft::detail
