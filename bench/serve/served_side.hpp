// SPDX-License-Identifier: Apache-2.0
// The side that a server has started, in a process of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "stage/settings.hpp"
#include "support/pair.hpp"

namespace weft::bench {

/// The variable by which a server tells the process that it starts the descriptor for its notes.
inline constexpr const char* served_variable = "WEFT_BENCH_SERVED";

/// That descriptor; nothing: no server has started this process.
std::optional<int> served_line();

/// Runs `body` as side 1, with the client that connects first. Notes for the server go to `line`.
/// \throws what body throws, after a note of it
void be_served(int line, const settings& chosen, const std::function<void(pair_member&)>& body);

}  // namespace weft::bench
