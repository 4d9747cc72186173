// SPDX-License-Identifier: Apache-2.0
// The completions of the device, and their pairs.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "transports/verbs/hardware/device.hpp"

namespace weft::transports::verbs {

class pair;

/// A completion and its pair.
struct completion {
  ibv_wc what;
  pair* of;  ///< null: the pair has gone
};

/// All completions that were fetched from the device and not yet handled, in the device's order.
/// Every completion goes through this object, so code that ends a connection in the middle of a
/// pass finds all of them. The device tells pairs apart by the numbers of their queue pairs, which
/// it uses again: so the pair of a completion is looked up when it is fetched. Owned by the
/// transport; progress lock held only.
class completions {
 public:
  explicit completions(device& d) noexcept : device_(d) {}

  /// From now on the pair's queue pair may have completions.
  void add(pair& p);
  /// The pair's queue pair has gone. Its fetched receives still belong to the pair.
  void retire(pair& p) noexcept;
  /// The pair goes, too: its fetched completions belong to no pair then.
  void forget(pair& p) noexcept;

  /// Takes the completions of the device. \return whether there are any
  bool fetch() noexcept;
  bool any() const noexcept { return next_ != waiting_.size(); }

  /// The first fetched completion; there must be one.
  completion next() noexcept { return waiting_[next_++]; }
  /// The first fetched completion of that pair.
  /// \param sends_only leave the receives
  std::optional<completion> next_of(const pair& p, bool sends_only) noexcept;

 private:
  pair* owner_of(const ibv_wc& c) const noexcept;
  std::vector<completion>::iterator first() noexcept {
    return waiting_.begin() + static_cast<std::ptrdiff_t>(next_);
  }

  device& device_;
  std::unordered_map<std::uint32_t, pair*> by_queue_pair_;
  std::vector<completion> waiting_;  // as large as it will ever be
  std::size_t next_ = 0;             // those before have been handled
};

}  // namespace weft::transports::verbs
