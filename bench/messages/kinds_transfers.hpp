// SPDX-License-Identifier: Apache-2.0
// The measured loops of `kinds`: windows one way, and messages there and back, of memory that is
// warm or cold, with a receiver that reads its message or does not look at it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "stage/stage.hpp"
#include "support/pattern.hpp"
#include "support/plan.hpp"

namespace weft::bench {

/// One measurement. All kinds have the same.
struct kinds_transfer {
  std::size_t window = 4;  ///< messages in flight; 0: one there and back
  bool reads = false;      ///< the receiver reads every byte before it answers
  bool cold = false;       ///< the buffers of either side fit into no cache

  bool there_and_back() const { return window == 0; }
  std::size_t in_flight() const { return there_and_back() ? 1 : window; }
  plan loops(std::size_t size, double effort) const;
  /// 10^6 bytes in a second; there and back: microseconds of half a round trip
  double figure(std::size_t size, double us, std::size_t repetitions) const;
};

/// Buffers in turn: as many as are in flight, or of so many that the caches have none of them.
class kinds_buffers {
 public:
  /// \param shared as weft::shared_memory, otherwise from the heap
  kinds_buffers(context& ctx, bool shared, const kinds_transfer& what, std::size_t size);
  std::span<std::byte> operator[](std::size_t i) const {
    return all_.subspan(i % count_ * stride_, size_);
  }
  std::size_t count() const { return count_; }

 private:
  std::optional<shared_memory> shared_;
  std::optional<heap_buffers> heap_;
  std::span<std::byte> all_;
  std::size_t size_, stride_, count_;
};

/// Both sides. \param from_shared what is sent is in weft::shared_memory
/// \return figures, one for each batch
task<std::vector<double>> kinds_samples(side me, bool from_shared, std::size_t size,
                                        kinds_transfer what, plan loops);

/// The same between two places of one process, by memcpy.
std::vector<double> kinds_plain_copies(std::size_t size, kinds_transfer what, plan loops);

}  // namespace weft::bench
