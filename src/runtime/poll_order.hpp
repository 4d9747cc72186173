// SPDX-License-Identifier: Apache-2.0
// In which order, and how often, a pass looks at sources that compete for it. After the SHIBA
// device (InfiniBand and shared memory under MPICH2): its adaptive and its toggle progress.
#pragma once

#include <vector>

#include <weft/poll_policy.hpp>

#include "runtime/pollable.hpp"

namespace weft::runtime {

/// Stands for all sources in the engine's pass. poll_policy::in_order needs none: the engine then
/// looks at them itself, so that the default costs nothing more. With the progress lock held.
class poll_order final : public pollable {
 public:
  explicit poll_order(poll_policy policy) noexcept : policy_(policy) {}

  /// At the end of the order; must outlive this. \throws std::bad_alloc
  void add(pollable& s) { all_.push_back({&s, share, false}); }

  unsigned poll() noexcept override;
  bool has_work() noexcept override { return false; }  // the engine asks the sources
  void wake_peer() noexcept override {}

 private:
  // Looks at each source in a round of the adaptive order, as long as none has more to do.
  static constexpr unsigned share = 4;

  struct entry {
    pollable* of;
    unsigned looks;  // in the next round
    bool brought;    // something, in the last round
  };

  unsigned adaptive() noexcept;
  unsigned toggle() noexcept;
  void share_out() noexcept;

  const poll_policy policy_;
  std::vector<entry> all_;
  std::size_t first_ = 0;  // of the toggle order
};

}  // namespace weft::runtime
