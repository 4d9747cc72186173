// SPDX-License-Identifier: Apache-2.0
// Chains that a device has begun and not ended.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "transports/qdma/device/event.hpp"

namespace weft::transports::qdma {

/// A chain under way.
struct run {
  chain_steps steps;
  std::size_t next = 0;      // step
  std::uint64_t copied = 0;  // bytes of that step
  std::uint32_t hops = 0;    // descriptors since an application began the chain
  errc failed = errc::ok;    // a step has failed: only signals are left
  std::string why;
};

/// A queue of a process, in which chains wait for room.
using destination = std::pair<vpid, std::uint32_t>;

/// Chains that have their turn one after the other, and a line of those that wait for room in each
/// full queue. Owned by the device; progress lock held only.
class run_queue {
 public:
  static constexpr std::size_t most = 65536;

  /// \return false: too many \throws std::bad_alloc; `r` is unchanged in both cases
  bool add(run&& r) {
    if (size() >= most) return false;
    ready_.push_back(std::move(r));
    return true;
  }
  bool any_ready() const noexcept { return !ready_.empty(); }
  std::size_t ready() const noexcept { return ready_.size(); }
  /// One that is ready.
  run take() noexcept {
    run r = std::move(ready_.front());
    ready_.pop_front();
    return r;
  }

  /// Whether others wait there before `r`.
  bool is_behind(const destination& where, const run& r) const noexcept {
    const run* const first = first_of(where);
    return first && first != &r;
  }
  /// Puts a copy behind those that wait there, unless `r` is the first of them itself.
  /// \return false: too many \throws std::bad_alloc
  bool park(const destination& where, const run& r) {
    if (first_of(where) == &r) return true;
    if (size() >= most) return false;
    parked_[where].push_back(r);
    ++parked_runs_;
    return true;
  }
  bool any_parked() const noexcept { return parked_runs_ != 0; }
  /// Hands over all that wait there. Needs no memory.
  template <class F>
  void unpark(const destination& where, F f) noexcept {
    const auto line = parked_.extract(where);
    if (line.empty()) return;
    parked_runs_ -= line.mapped().size();
    for (run& r : line.mapped()) f(std::move(r));
  }
  /// Shows `try_again(first, where)` the first of each line, and the next one when it is true: then
  /// `left(run)` gets the one that has gone.
  template <class Try, class Left>
  void retry(Try try_again, Left left) noexcept {
    for (auto at = parked_.begin(); at != parked_.end();) {
      while (!at->second.empty() && try_again(at->second.front(), at->first)) {
        run r = std::move(at->second.front());
        at->second.pop_front();
        --parked_runs_;
        left(std::move(r));
      }
      at = at->second.empty() ? parked_.erase(at) : std::next(at);
    }
  }

  void clear() noexcept {
    ready_.clear();
    parked_.clear();
    parked_runs_ = 0;
  }

 private:
  std::size_t size() const noexcept { return ready_.size() + parked_runs_; }
  const run* first_of(const destination& where) const noexcept {
    const auto at = parked_.find(where);
    return at == parked_.end() || at->second.empty() ? nullptr : &at->second.front();
  }

  std::deque<run> ready_;
  std::map<destination, std::deque<run>> parked_;  // in order
  std::size_t parked_runs_ = 0;
};

}  // namespace weft::transports::qdma
