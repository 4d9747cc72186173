// SPDX-License-Identifier: Apache-2.0
// Collective calls. Payloads differ from call to call in a word that every rank checks; the rest is
// verified outside of the measured time.
#include <fmt/format.h>
#include <mpi.h>

#include <cstdint>
#include <stdexcept>

#include "peers/mpi_loops.hpp"
#include "support/clock.hpp"
#include "support/compute.hpp"
#include "support/crowd_batches.hpp"
#include "support/pattern.hpp"
#include "support/plan.hpp"

namespace weft::bench::mpi {
namespace {

int number_of_ranks() {
  int result = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &result);
  return result;
}

class barrier {
 public:
  void call(std::uint64_t) { MPI_Barrier(MPI_COMM_WORLD); }

  /// Checks that no rank leaves the barrier before the last one, which is late, has entered it. All
  /// ranks use one clock.
  void verify(std::uint64_t) {
    if (rank() == number_of_ranks() - 1) compute_for_us(200);
    std::int64_t came = now_ns();
    MPI_Barrier(MPI_COMM_WORLD);
    std::int64_t left = now_ns();
    MPI_Allreduce(MPI_IN_PLACE, &came, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (left < came)
      throw std::runtime_error("a rank left the barrier before the last one had come");
  }
};

class broadcast {
 public:
  explicit broadcast(std::size_t size) : out_(1, size), in_(1, size) {
    fill(out_[0], static_cast<std::uint64_t>(me_) + 1);
  }

  void call(std::uint64_t n) {
    const int root = root_of(n);
    const auto buffer = root == me_ ? out_[0] : in_[0];
    if (root == me_) stamp(buffer, n);
    MPI_Bcast(buffer.data(), count_of(buffer), MPI_BYTE, root, MPI_COMM_WORLD);
    check_stamp(buffer, n);
  }

  void verify(std::uint64_t last) {
    const int root = root_of(last);
    if (root != me_) bench::verify(in_[0], static_cast<std::uint64_t>(root) + 1);
  }

 private:
  int root_of(std::uint64_t n) const { return static_cast<int>(n % ranks_); }

  const int me_ = rank();
  const std::uint64_t ranks_ = static_cast<std::uint64_t>(number_of_ranks());
  heap_buffers out_;
  heap_buffers in_;
};

/// Sums of whole numbers. Word j of rank r is (r + 1) (j + 1), except for the first, which is n +
/// r.
class sum {
 public:
  explicit sum(std::size_t size) : in_(words_of(size)), out_(in_.size()) {
    for (std::size_t j = 0; j < in_.size(); ++j)
      in_[j] = (me_ + 1) * static_cast<std::int64_t>(j + 1);
  }

  void call(std::uint64_t n) {
    const auto number = static_cast<std::int64_t>(n);
    in_[0] = number + me_;
    MPI_Allreduce(in_.data(), out_.data(), static_cast<int>(in_.size()), MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    check(0, ranks_ * number + ranks_ * (ranks_ - 1) / 2);
  }

  void verify(std::uint64_t) {
    for (std::size_t j = 1; j < out_.size(); ++j)
      check(j, ranks_ * (ranks_ + 1) / 2 * static_cast<std::int64_t>(j + 1));
  }

 private:
  static std::size_t words_of(std::size_t size) {
    if (size == 0 || size % sizeof(std::int64_t) != 0)
      throw std::invalid_argument(
          fmt::format("allreduce adds numbers of 8 bytes: {} bytes are no multiple", size));
    return size / sizeof(std::int64_t);
  }

  void check(std::size_t at, std::int64_t expected) const {
    if (out_[at] != expected)
      throw std::runtime_error(
          fmt::format("the sum in word {} is {} instead of {}", at, out_[at], expected));
  }

  const std::int64_t me_ = rank();
  const std::int64_t ranks_ = number_of_ranks();
  std::vector<std::int64_t> in_;
  std::vector<std::int64_t> out_;
};

template <class Work>
std::vector<double> measure(Work work, std::size_t size, double effort, bool crowded) {
  const std::size_t per_batch =
      crowded ? crowd_batches::per_batch : latency_plan(size, effort).per_batch;
  MPI_Barrier(MPI_COMM_WORLD);

  std::uint64_t n = 0;
  crowd_batches batches(effort);
  for (int more = 1; more != 0;) {
    const auto start = now_ns();
    for (std::size_t i = 0; i < per_batch; ++i) work.call(n++);
    more = batches.add(start, now_ns(), static_cast<double>(per_batch)) ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);  // rank 0's clock decides for all
  }
  work.verify(n - 1);
  return rank() == 0 ? batches.take() : std::vector<double>{};
}

}  // namespace

std::vector<double> collective(const std::string& which, std::size_t size, double effort,
                               bool crowded) {
  if (which == "barrier") return measure(barrier(), 0, effort, crowded);
  if (which == "bcast") return measure(broadcast(size), size, effort, crowded);
  if (which == "allreduce") return measure(sum(size), size, effort, crowded);
  throw std::invalid_argument(fmt::format("no collective call is measured as {}", which));
}

}  // namespace weft::bench::mpi
