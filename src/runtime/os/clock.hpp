// SPDX-License-Identifier: Apache-2.0
// The source of an engine's time, if not the machine's clock.
#pragma once

#include <weft/coro/detail/timer.hpp>

namespace weft::runtime {

/// Virtual time, for simulations. An engine with a clock of its own is in mode `polling` and driven
/// by `poll_once`: the owner of the clock knows when to go on, and no thread may sleep meanwhile.
class clock {
 public:
  virtual detail::time_point now() const noexcept = 0;

 protected:
  ~clock() = default;
};

}  // namespace weft::runtime
