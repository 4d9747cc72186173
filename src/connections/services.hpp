// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "connections/transport_attempts.hpp"
#include "connections/transport_list.hpp"
#include "runtime/progress/engine.hpp"

namespace weft::connections {

/// What all parts of connection set-up use. A value of references; what they refer to lives longer.
struct services {
  runtime::engine& engine;
  const transport_list& transports;
  transport_attempts& attempts;  ///< progress lock held
};

}  // namespace weft::connections
