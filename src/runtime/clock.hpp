// SPDX-License-Identifier: Apache-2.0
// Where an engine's time comes from, if not from the machine.
#pragma once

#include <weft/coro/detail/timer.hpp>

namespace weft::runtime {

/// Virtual time, for simulations. An engine with a clock of its own is in mode `polling` and turned
/// by `poll_once`: the owner of the clock knows when to go on, and no thread may sleep meanwhile.
class clock {
 public:
  virtual detail::time_point now() const noexcept = 0;

 protected:
  ~clock() = default;
};

}  // namespace weft::runtime
