// SPDX-License-Identifier: Apache-2.0
// The loop of `half_round_trips` for calls that block, without coroutines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "stage/loops.hpp"
#include "support/clock.hpp"
#include "support/pattern.hpp"

namespace weft::bench {

/// The passes of an external loop under one holding of the progress lock, as in run().
inline constexpr unsigned passes_in_turn = 64;

/// Half round trips in microseconds: send, then receive. Both sides call it, after a barrier;
/// process 0 gets the samples, the other none.
/// \param way has `send(std::span<const std::byte>)`, and `receive(std::span<std::byte>)`, which
///        returns the number of bytes received
template <class Way>
std::vector<double> half_round_trips_by(Way& way, int rank, std::size_t size, plan loops) {
  heap_buffers out(1, size);
  heap_buffers in(1, size);
  fill_all(out);

  std::uint64_t n = 0;
  const auto round_trips = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i, ++n) {
      const auto message = out.next();
      const auto box = in.next();
      stamp(message, n);
      if (rank == 0) way.send(message);
      if (way.receive(box) != size) throw std::runtime_error("a message came with another length");
      check_stamp(box, n);
      if (rank == 1) way.send(message);
    }
  };
  round_trips(loops.warm_up);
  std::vector<double> samples;
  for (std::size_t batch = 0; batch < loops.batches; ++batch) {
    const auto start = now_ns();
    round_trips(loops.per_batch);
    if (rank == 0)
      samples.push_back(us_between(start, now_ns()) / 2.0 / static_cast<double>(loops.per_batch));
  }
  verify_all(in, n);
  return samples;
}

}  // namespace weft::bench
