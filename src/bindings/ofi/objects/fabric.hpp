// SPDX-License-Identifier: Apache-2.0
// fi_fabric(3)
#pragma once

#include "bindings/ofi/objects/object.hpp"

namespace weft::ofi {

class fabric final : public fid_fabric {
 public:
  explicit fabric(void* context) noexcept;

  /// fi_provider::fabric
  static int open(fi_fabric_attr* attr, fid_fabric** made, void* context) noexcept;

  users used;  // domains, event queues

 private:
  /// Whether a thread may sleep on the descriptors of these queues and counters. fi_poll(3)
  static int try_wait(fid_fabric* fabric, fid_t* waited_for, int count) noexcept;
  static fi_ops_fabric fabric_ops;
};

}  // namespace weft::ofi
