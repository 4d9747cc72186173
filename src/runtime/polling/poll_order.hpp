// SPDX-License-Identifier: Apache-2.0
// The order in which, and how often, a pass polls competing pollables. After the SHIBA device
// (InfiniBand and shared memory under MPICH2): its adaptive and its toggle progress.
#pragma once

#include <vector>

#include <weft/poll_policy.hpp>
#include <weft/transport/pollable.hpp>

namespace weft::runtime {

/// Stands for all pollables in the engine's pass. poll_policy::in_order does not need it: the
/// engine then polls them itself, so that the default costs nothing more. Progress lock held.
class poll_order final : public pollable {
 public:
  explicit poll_order(poll_policy policy) noexcept : policy_(policy) {}

  /// Adds a pollable at the end of the order; it must outlive this object. \throws std::bad_alloc
  void add(pollable& s) { all_.push_back({&s, share, false}); }

  unsigned poll() noexcept override;
  bool has_work() noexcept override { return false; }  // the engine asks the pollables
  void wake_peer() noexcept override {}

 private:
  // Polls of each pollable in a round of the adaptive order, as long as none has more to do.
  static constexpr unsigned share = 4;

  struct entry {
    pollable* of;
    unsigned looks;  // polls in the next round
    bool brought;    // had events in the last round
  };

  unsigned adaptive() noexcept;
  unsigned toggle() noexcept;
  void share_out() noexcept;

  const poll_policy policy_;
  std::vector<entry> all_;
  std::size_t first_ = 0;  // the first pollable of the next round of the toggle order
};

}  // namespace weft::runtime
