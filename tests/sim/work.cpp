// SPDX-License-Identifier: Apache-2.0
#include "sim/work.hpp"

namespace {
std::uint64_t blocks = 0;
}  // namespace

/// Called in each basic block by code that is compiled with -fsanitize-coverage=trace-pc.
extern "C" void __sanitizer_cov_trace_pc() { ++blocks; }

std::uint64_t sim::work_done() noexcept { return blocks; }
