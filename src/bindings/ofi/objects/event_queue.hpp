// SPDX-License-Identifier: Apache-2.0
// fi_eq(3): for programs that always open one. Endpoints without connections and synchronous
// address vectors make no events.
#pragma once

#include "bindings/ofi/objects/fabric.hpp"

namespace weft::ofi {

class event_queue final : public fid_eq {
 public:
  event_queue(fabric& of, void* context) noexcept;
  ~event_queue();

  /// fi_ops_fabric::eq_open
  static int open(fid_fabric* of, fi_eq_attr* attr, fid_eq** made, void* context) noexcept;

  users used;

 private:
  static fi_ops_eq eq_ops;
  fabric& fabric_;
};

}  // namespace weft::ofi
