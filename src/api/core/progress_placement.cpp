// SPDX-License-Identifier: Apache-2.0
#include "api/core/progress_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <set>
#include <weft/error.hpp>

#include "runtime/cores/host_ranks.hpp"
#include "runtime/progress/engine.hpp"

namespace weft::detail {

using std::chrono::microseconds;
using std::chrono::steady_clock;

namespace {

// Ranks begin within so many looks, with twice the time in between each time: 2.5 s in all.
constexpr unsigned looks_at_first = 8;
constexpr microseconds first_pause = std::chrono::milliseconds{10};
// A look takes its time from the rank's core: this is the share of the time that is left.
constexpr int times_its_own = 50;

constexpr const char* as_asked = "as WEFT_PROGRESS_CPUS says";

}  // namespace

void progress_placement::attach(const std::vector<runtime::engine*>& engines) {
  const std::lock_guard lock(mutex_);
  for (runtime::engine* const one : engines)
    if (one->progress_cpus().any()) engines_.push_back(one);
  if (engines_.empty()) return;
  inherited_ = engines_.front()->progress_cpus();
  reason_ = as_asked;
  const std::optional<runtime::cpu_set> list = runtime::parse_cpus(wanted_);
  for (runtime::engine* const one : engines_)
    if (const int fault = list ? one->run_progress_on(*list) : 0; fault != 0)
      throw error(
          errc::invalid_argument,
          fmt::format("WEFT_PROGRESS_CPUS (options::progress_cpus) is \"{}\", but the "
                      "kernel grants none of these cores ({}); name some of {}, or use "
                      "auto or inherit",
                      wanted_, std::strerror(fault), runtime::text_of(runtime::allowed_cpus())));
}

void progress_placement::start(later call) {
  if (engines_.empty() || !is_automatic()) return;  // constant since attach
  call_ = std::move(call);
  looks_left_ = looks_at_first;
  pause_ = first_pause;
  look_and_plan();
}

void progress_placement::look_and_plan() noexcept {
  planned_ = false;
  if (look())
    looks_left_ = 0;
  else if (looks_left_ != 0)
    plan();
}

/// Without memory there is no look until the next peer comes or goes.
void progress_placement::plan() noexcept try {
  if (!call_ || planned_) return;
  microseconds pause = first_pause;
  if (looks_left_ != 0) {
    --looks_left_;
    pause = std::exchange(pause_, 2 * pause_);
  }
  {
    const std::lock_guard lock(mutex_);
    pause = std::max(pause, times_its_own * last_look_);
  }
  call_(pause, [this] { look_and_plan(); });
  planned_ = true;
} catch (const std::exception&) {
}

void progress_placement::met(const void* channel, pid_t process) noexcept try {
  {
    const std::lock_guard lock(mutex_);
    if (!peers_.emplace(channel, process).second) return;
  }
  plan();
} catch (const std::exception&) {
}

void progress_placement::parted(const void* channel) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (peers_.erase(channel) == 0) return;
  }
  plan();
}

/// Any thread. \return whether it need not look again. Without memory, a thread or /proc the
/// threads stay where they are
bool progress_placement::look() noexcept try {
  const std::lock_guard lock(mutex_);
  const auto began = steady_clock::now();
  std::set<pid_t> peers;
  for (const auto& [channel, process] : peers_) peers.insert(process);
  const runtime::core_use now = runtime::look_at_cores(inherited_, ranks_, peers);
  if (now.found >= now.ranks) ranks_ = 0;
  const runtime::progress_cpus chosen = runtime::choose_progress_cpus(now);
  place(chosen);
  last_look_ = std::chrono::duration_cast<microseconds>(steady_clock::now() - began);
  return chosen.settled;
} catch (const std::exception&) {
  return false;
}

void progress_placement::place(const runtime::progress_cpus& chosen) {
  const runtime::cpu_set& cpus = chosen.cpus.any() ? chosen.cpus : inherited_;
  reason_ = chosen.reason;
  for (runtime::engine* const one : engines_) {
    if (one->progress_cpus() == cpus) continue;
    if (const int fault = one->run_progress_on(cpus); fault != 0)
      reason_ =
          fmt::format("cores {} were refused ({})", runtime::text_of(cpus), std::strerror(fault));
  }
}

std::string progress_placement::describe() {
  if (engines_.empty()) return {};
  if (is_automatic()) static_cast<void>(look());
  const std::lock_guard lock(mutex_);
  const runtime::cpu_set cpus = engines_.front()->progress_cpus();
  return fmt::format("progress thread: on core{} {}{}; {}\n", cpus.count() == 1 ? "" : "s",
                     runtime::text_of(cpus), cpus == inherited_ ? ", inherited" : "", reason_);
}

}  // namespace weft::detail
