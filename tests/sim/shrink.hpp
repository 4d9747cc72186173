// SPDX-License-Identifier: Apache-2.0
// Reduces a run that fails to a small run that fails.
#pragma once

#include <functional>

#include "sim/run.hpp"

namespace sim {

/// Leaves out acts (and with them ranks), then messages, as long as the oracle still finds a
/// violation. Leaving acts out does not change the plans of the rest.
/// \param w     a run that fails
/// \param tried called before each attempt, to show progress
/// \return a run that fails, of which no single act can be left out
wishes shrink(wishes w, const std::function<void(const wishes&)>& tried = {});

}  // namespace sim
