// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/retry.hpp>

#include <algorithm>
#include <string>

namespace weft {

bool is_transient(const error& e) noexcept {
  switch (e.kind()) {
    case errc::peer_lost:
    case errc::closed:
    case errc::unreachable:
    case errc::timed_out:
    case errc::out_of_memory:
      return true;
    default:
      return false;
  }
}

bool is_transient_or_refused(const error& e) noexcept {
  return e.kind() == errc::refused || is_transient(e);
}

namespace detail {

using std::chrono::nanoseconds;

retries::retries(const retry_policy& policy, timer_service& clock) noexcept
    : policy_(policy),
      clock_(clock),
      begin_(clock.now()),
      end_(due(clock, policy.total)),
      bound_(std::clamp(policy.first_pause, nanoseconds(0),
                        std::max(policy.longest_pause, nanoseconds(0)))),
      dice_(policy.seed) {
  if (dice_ == 0)
    dice_ = static_cast<std::uint64_t>(begin_.time_since_epoch().count()) ^
            reinterpret_cast<std::uintptr_t>(this);
}

/// splitmix64: pauses need no better one.
std::uint64_t retries::random() noexcept {
  std::uint64_t z = dice_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

nanoseconds retries::pause_after(const error& e) {
  ++attempts_;
  last_ = e;
  const nanoseconds left = end_ - clock_.now();
  if (e.kind() == errc::stopped || attempts_ >= policy_.attempts || left <= nanoseconds(0) ||
      !policy_.retriable(e))
    give_up(e.kind());
  const auto most = static_cast<std::uint64_t>(bound_.count());
  const nanoseconds pause(static_cast<nanoseconds::rep>(random() % (most + 1)));
  bound_ = std::min(policy_.longest_pause,
                    bound_ > policy_.longest_pause / 2 ? policy_.longest_pause : 2 * bound_);
  if (pause >= left) give_up(e.kind());
  return pause;
}

void retries::give_up(errc why) const {
  if (attempts_ <= 1 && why == last_->kind()) throw *last_;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - begin_);
  throw error(why, "tried " + std::to_string(attempts_) + (attempts_ == 1 ? " time" : " times") +
                       " in " + std::to_string(took.count()) + " ms: " + last_->what());
}

}  // namespace detail
}  // namespace weft
