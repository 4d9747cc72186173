// SPDX-License-Identifier: Apache-2.0
// The measured loops, as in an application. Both sides call each; process 0 gets the samples, the
// other none.
#pragma once

#include <cstddef>
#include <vector>

#include "stage.hpp"
#include "support/job.hpp"
#include "support/pattern.hpp"
#include "support/plan.hpp"

namespace weft::bench {

/// Half round trips in microseconds: send, then receive.
task<std::vector<double>> half_round_trips(const side& me, std::size_t size, plan loops);

/// Microseconds of exchanges: each side starts a send and a receive, and waits for both.
task<std::vector<double>> exchanges(const side& me, std::size_t size, plan loops);

/// `what.window` sends or receives at once, joined, then an 8-byte acknowledgement. A sample is the
/// number of messages in a microsecond, that is millions of messages a second.
task<std::vector<double>> windows(const side& me, std::size_t size, const job& what);

/// Fills buffer i so that verify_all finds it intact.
void fill_all(heap_buffers& buffers);

/// Throws std::runtime_error unless the first `used` buffers have the contents that fill_all wrote
/// at the sender.
void verify_all(heap_buffers& buffers, std::size_t used);

/// Throws std::runtime_error when a message of `size` bytes arrived with another length.
void check_length(const received& got, std::size_t size);

}  // namespace weft::bench
