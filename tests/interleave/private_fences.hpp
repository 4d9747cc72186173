// SPDX-License-Identifier: Apache-2.0
// The fences of the progress lock, as steps of a search.
#pragma once

#include "scenario.hpp"

namespace weft::runtime {
inline bool join_private_fences() noexcept { return true; }
inline bool private_fence() noexcept {
  interleave::point();
  interleave::fence_all();
  return true;
}
}  // namespace weft::runtime
