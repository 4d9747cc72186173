// SPDX-License-Identifier: Apache-2.0
// The SHIBA device's ways to read a long message out of a ring. docs/adr/0011-reading-a-ring.md.
#pragma once

#include <weft/ring_read_policy.hpp>

#include "transports/shm/transport.hpp"

namespace weft::transports::shm {

/// Takes one frame of a ring in a poll, and the rest of a long message when `ring_read_policy` says
/// so. A separate class, so that the default pays nothing for the choice.
class read_policy_transport final : public shm_transport {
 public:
  /// \param reading anything but `burst`
  read_policy_transport(runtime::doorbell& own_bell, copy_method way, std::uint64_t probe_value,
                        ring_read_policy reading, services* looks_after = nullptr,
                        std::size_t streamed_from = never_streamed);

  unsigned poll() noexcept override;
  std::string describe() const override;

 private:
  unsigned look(pair& p) noexcept;
  unsigned read_on(pair& p, unsigned most) noexcept;
  unsigned take_rests() noexcept;

  const ring_read_policy reading_;
  bool rests_due_ = false;  // of at least one pair
};

}  // namespace weft::transports::shm
