// SPDX-License-Identifier: Apache-2.0
// What the device has completed: for which pair, and until when.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "transports/verbs/device.hpp"

namespace weft::transports::verbs {

class pair;

/// One of them.
struct completion {
  ibv_wc what;
  pair* of;  ///< null: of one that has gone
};

/// All that the device has completed and nobody has acted upon yet, in its order. Nothing is taken
/// from the device past this, so whoever ends a connection in the middle of a pass finds all that
/// there is. The device tells pairs apart by the numbers of their queue pairs, which it uses again:
/// whose a completion is is found out when it is fetched. Owned by the transport; progress lock
/// held only.
class completions {
 public:
  explicit completions(device& d) noexcept : device_(d) {}

  /// Of its queue pair something may complete from now on.
  void add(pair& p);
  /// Its queue pair has gone. What it received and was fetched is still the pair's.
  void retire(pair& p) noexcept;
  /// The pair goes, too: what was fetched for it is nobody's.
  void forget(pair& p) noexcept;

  /// Takes what the device has. \return whether there is something
  bool fetch() noexcept;
  bool any() const noexcept { return next_ != waiting_.size(); }

  /// The first of what was fetched, which there is.
  completion next() noexcept { return waiting_[next_++]; }
  /// The first that was fetched for that pair.
  /// \param sends_only leave what was received
  std::optional<completion> next_of(const pair& p, bool sends_only) noexcept;

 private:
  pair* owner_of(const ibv_wc& c) const noexcept;
  std::vector<completion>::iterator first() noexcept {
    return waiting_.begin() + static_cast<std::ptrdiff_t>(next_);
  }

  device& device_;
  std::unordered_map<std::uint32_t, pair*> by_queue_pair_;
  std::vector<completion> waiting_;  // as large as it will ever be
  std::size_t next_ = 0;             // those before have been acted upon
};

}  // namespace weft::transports::verbs
