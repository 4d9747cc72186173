// SPDX-License-Identifier: Apache-2.0
// The work of the protocols, in steps that are the same on every machine.
#pragma once

#include <cstdint>

namespace sim {

/// Basic blocks of src/proto that this program has run so far: the simulator has its own copy of
/// that layer, whose compiler counts them.
std::uint64_t work_done() noexcept;

}  // namespace sim
