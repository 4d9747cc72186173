// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace weft {
class external_loop;
}

namespace weft::ofi {

/// External loops, each with the number of its users: transmit and receive context of a number
/// share one, and each may be closed by itself. Guarded by its owner's mutex.
class loop_list {
 public:
  /// \return whether the loop is new here \throws std::bad_alloc
  bool add(external_loop& p) {
    const auto at = find(p);
    if (at != all_.end()) {
      ++at->second;
      return false;
    }
    all_.emplace_back(&p, 1u);
    return true;
  }
  /// \return whether that was its last user
  bool remove(external_loop& p) noexcept {
    const auto at = find(p);
    if (at == all_.end() || --at->second != 0) return false;
    all_.erase(at);
    return true;
  }

  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

 private:
  std::vector<std::pair<external_loop*, unsigned>>::iterator find(external_loop& p) noexcept {
    return std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.first == &p; });
  }

  std::vector<std::pair<external_loop*, unsigned>> all_;
};

}  // namespace weft::ofi
