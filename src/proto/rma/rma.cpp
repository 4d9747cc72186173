// SPDX-License-Identifier: Apache-2.0
#include "proto/rma/rma.hpp"

namespace weft::proto {

bool rma::on_frame(frame_kind kind, const frame_header& h, const frame_extension& x,
                   const std::byte* data) noexcept {
  switch (kind) {
    case frame_kind::put:
      return target.on_put(h, x, data);
    case frame_kind::get:
      return target.on_get(h, x);
    case frame_kind::update:
      return target.on_update(h, x);
    case frame_kind::got:
      return initiator.on_got(h, x, data);
    case frame_kind::accessed:
      return h.size == 0 && initiator.on_accessed(x);
    case frame_kind::granted:
      return h.size == 0 && initiator.on_granted(x);
    default:
      return h.size == 0 && target.on_released(x);
  }
}

}  // namespace weft::proto
