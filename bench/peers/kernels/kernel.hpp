// SPDX-License-Identifier: Apache-2.0
// Small numerical programs that communicate as some of the NAS Parallel Benchmarks do. They are not
// these benchmarks: problems, sizes and code are this project's own, so their times compare with
// each other only.
#pragma once

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include "support/fingerprint.hpp"

namespace weft::bench::mpi {

/// A problem that the ranks of a communicator solve together. All calls are collective, except
/// add_to(). Its constructor prepares what does not count: the problem's data and its division.
class kernel {
 public:
  kernel() = default;
  kernel(const kernel&) = delete;
  kernel& operator=(const kernel&) = delete;
  virtual ~kernel() = default;

  /// Solves the problem from its beginning; this is the measured work.
  virtual void solve() = 0;
  /// Adds this rank's part of the last solution.
  virtual void add_to(fingerprint& whole) const = 0;
  /// How far the last solution is from the known answer; the same on all ranks.
  virtual double error() = 0;
  /// How far it may be.
  virtual double allowed_error() const = 0;
  /// How far sums may be from those of one process, see fingerprint::difference(). Not zero where
  /// the ranks add numbers up in another order.
  virtual double tolerance() const = 0;
};

/// The sizes, S for tests, W and A for figures: how many points in each direction, unknowns or keys
/// (of IS, as a power of two).
struct class_sizes {
  std::size_t s, w, a;
  /// \throws std::invalid_argument if there is no such class
  std::size_t of(const std::string& problem_class) const;
};

/// Sequential Gauss-Seidel sweeps forward and back over a three-dimensional grid, of which each
/// rank has a column: a wavefront of many small messages to the neighbours.
std::unique_ptr<kernel> make_lu(const std::string& problem_class, MPI_Comm ranks);
/// Conjugate gradients for a sparse random matrix, divided in blocks: sums along the rows of
/// blocks, an exchange across the diagonal, and sums of one number.
std::unique_ptr<kernel> make_cg(const std::string& problem_class, MPI_Comm ranks);
/// Multigrid V-cycles on a periodic cube: exchange of surfaces at all levels, long and short.
/// \throws std::invalid_argument unless each direction is divided by 1, 2 or 4
std::unique_ptr<kernel> make_mg(const std::string& problem_class, MPI_Comm ranks);
/// Heat in a periodic cube by three-dimensional Fourier transforms: all_to_all of the whole cube.
/// \throws std::invalid_argument unless the number of ranks divides the cube's planes
std::unique_ptr<kernel> make_ft(const std::string& problem_class, MPI_Comm ranks);
/// A sort of whole numbers by buckets: all_to_all of counts, then of the numbers, in parts of
/// different lengths.
std::unique_ptr<kernel> make_is(const std::string& problem_class, MPI_Comm ranks);

/// One of them by its name in lower case. \throws std::invalid_argument for another name
std::unique_ptr<kernel> make_kernel(const std::string& name, const std::string& problem_class,
                                    MPI_Comm ranks);

/// Part `index` of `parts` nearly equal ones of the numbers below `count`.
struct part {
  part(std::size_t count, int index, int parts)
      : begin(count * static_cast<std::size_t>(index) / static_cast<std::size_t>(parts)),
        end(count * static_cast<std::size_t>(index + 1) / static_cast<std::size_t>(parts)) {}
  std::size_t size() const noexcept { return end - begin; }
  std::size_t begin;
  std::size_t end;
};

/// Keeps the largest distance; not-a-number is as far as can be.
inline void keep_largest(double& kept, double distance) {
  if (!(distance <= kept))
    kept = std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

/// The number of ranks in a communicator, this rank in it, and the largest and the sum of its
/// ranks' numbers.
int size_of(MPI_Comm ranks);
int rank_in(MPI_Comm ranks);
double largest_of(double mine, MPI_Comm ranks);
double sum_of(double mine, MPI_Comm ranks);

}  // namespace weft::bench::mpi
