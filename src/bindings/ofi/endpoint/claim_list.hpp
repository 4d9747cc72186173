// SPDX-License-Identifier: Apache-2.0
// Messages that FI_PEEK has claimed for a receive to come.
#pragma once

#include <algorithm>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include <weft/claim.hpp>

namespace weft::ofi {

/// Found by the context pointers of the calls that claimed them. Any thread.
class claim_list {
 public:
  /// \throws std::bad_alloc
  void add(void* context, claimed_message message) {
    const std::lock_guard lock(mutex_);
    all_.emplace_back(context, std::move(message));
  }
  /// \return nothing: none was claimed with that context
  std::optional<claimed_message> take(void* context) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const auto& c) { return c.first == context; });
    if (found == all_.end()) return {};
    std::optional<claimed_message> taken(std::move(found->second));
    all_.erase(found);
    return taken;
  }
  /// Gives them back to their endpoint, while its context lives.
  void clear() noexcept { all_.clear(); }

 private:
  std::mutex mutex_;
  std::list<std::pair<void*, claimed_message>> all_;
};

}  // namespace weft::ofi
