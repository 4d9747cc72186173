// SPDX-License-Identifier: Apache-2.0
// From a run that fails to a small one that fails.
#pragma once

#include <functional>

#include "sim/run.hpp"

namespace sim {

/// Leaves out acts (and with them ranks), then messages, as long as the oracle still finds
/// something. What is left out changes nothing about the plans for the rest.
/// \param w     a run that fails
/// \param tried called before each attempt, for people who wait
/// \return a run that fails, of which no single act can be left out
wishes shrink(wishes w, const std::function<void(const wishes&)>& tried = {});

}  // namespace sim
