// SPDX-License-Identifier: Apache-2.0
// The payloads of collective calls, and their checks. weft and the MPIs use the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/job.hpp"
#include "support/pattern.hpp"

namespace weft::bench {

/// One of collective_calls (support/job.hpp), in that order.
enum class collective_call { barrier, broadcast, all_reduce, all_to_all };
/// \throws std::invalid_argument for a name that is not in collective_calls
collective_call call_named(const std::string& name);

/// The buffers of one rank. In each call the first and last word depend on the call's number and
/// are checked; everything is verified in a call outside of the measured time.
class collective_work {
 public:
  /// \param size bytes of one rank's part. \throws std::invalid_argument: a size that cannot be
  ///        summed
  collective_work(collective_call which, std::size_t size, int rank, int ranks);

  collective_call which() const noexcept { return which_; }
  /// Of a broadcast; rotates, so that each call has to wait for the one before.
  int root(std::uint64_t n) const noexcept { return static_cast<int>(n % ranks_); }
  /// What a broadcast sends or fills.
  std::span<std::byte> data() noexcept { return in_[0]; }
  /// What all_reduce sums in place: modulo 2^64.
  std::span<std::uint64_t> words() noexcept { return words_; }
  /// Of all_to_all: the ranks' parts behind each other.
  std::span<std::byte> out() noexcept { return out_[0]; }
  std::span<std::byte> in() noexcept { return in_[0]; }

  /// Before call `n` and after it. \throws std::runtime_error: the payload is wrong
  void prepare(std::uint64_t n) noexcept;
  void check(std::uint64_t n);
  /// The same with whole payloads.
  void prepare_all(std::uint64_t n) noexcept;
  void check_all(std::uint64_t n);

 private:
  std::span<std::byte> part(heap_buffers& of, std::uint64_t rank) noexcept {
    return of[0].subspan(rank * size_, size_);
  }
  /// Differs for each pair of ranks in each call.
  std::uint64_t stamp_of(std::uint64_t n, std::uint64_t from, std::uint64_t to) const noexcept {
    return (n * ranks_ + from) * ranks_ + to;
  }

  const collective_call which_;
  const std::size_t size_;
  const std::uint64_t me_, ranks_;
  heap_buffers out_, in_;
  std::vector<std::uint64_t> words_;
};

}  // namespace weft::bench
