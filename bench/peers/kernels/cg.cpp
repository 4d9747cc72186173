// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients for A x = b, where A is the matrix of a random graph: each edge (i, j) with
// weight w adds w to A[i][i] and A[j][j] and subtracts it from A[i][j] and A[j][i]; a number on the
// diagonal makes A positive definite.
//
// The ranks are a grid, and each has one block of A. A vector is cut into as many pieces as there
// are ranks. For a product each column of the grid collects its part of the vector, each rank
// multiplies its block, and each row of the grid adds the results up and shares them out. Pieces
// then lie in the order of rows, and an exchange across the grid puts them into the order of
// columns again.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "peers/kernels/kernel.hpp"

namespace weft::bench::mpi {
namespace {

using vector = std::vector<double>;

/// The grid of ranks, and a matrix that is divided over it.
class blocks {
 public:
  blocks(std::size_t n, MPI_Comm ranks) : n_(n), ranks_(ranks), count_(size_of(ranks)) {
    std::array<int, 2> grid{};
    MPI_Dims_create(count_, 2, grid.data());
    const auto [rows, columns] = grid;
    const int mine = rank_in(ranks);
    const int row = mine / columns;
    const int column = mine % columns;
    MPI_Comm_split(ranks, row, column, &along_row_);
    MPI_Comm_split(ranks, column, row, &along_column_);
    piece_ = column * rows + row;
    from_ = piece_;
    to_ = mine % rows * columns + mine / rows;
    for (int c = 0; c != columns; ++c) in_row_.push_back(length(row * columns + c));
    for (int r = 0; r != rows; ++r) {
      begins_.push_back(std::accumulate(in_column_.begin(), in_column_.end(), 0));
      in_column_.push_back(length(column * rows + r));
    }
    first_row_ = part(n, row, rows).begin;
    first_column_ = part(n, column, columns).begin;
    sums_.resize(part(n, row, rows).size());
    collected_.resize(part(n, column, columns).size());
    shared_.resize(static_cast<std::size_t>(length(mine)));
  }
  blocks(const blocks&) = delete;
  blocks& operator=(const blocks&) = delete;
  ~blocks() {
    MPI_Comm_free(&along_row_);
    MPI_Comm_free(&along_column_);
  }

  /// This rank's piece of every vector.
  part piece() const { return {n_, piece_, count_}; }

  /// Adds to an element of the matrix; ignored where another rank has it. For one row all its
  /// elements come before finish().
  void add(std::size_t row, std::size_t column, double value) {
    if (row - first_row_ < sums_.size() && column - first_column_ < collected_.size())
      entries_.push_back({row - first_row_, column - first_column_, value});
  }
  void finish() {
    std::stable_sort(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) {
      return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
  }

  /// y = A x
  void multiply(const vector& x, vector& y) {
    MPI_Allgatherv(x.data(), static_cast<int>(x.size()), MPI_DOUBLE, collected_.data(),
                   in_column_.data(), begins_.data(), MPI_DOUBLE, along_column_);
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for (const entry& one : entries_) sums_[one.row] += one.value * collected_[one.column];
    MPI_Reduce_scatter(sums_.data(), shared_.data(), in_row_.data(), MPI_DOUBLE, MPI_SUM,
                       along_row_);
    MPI_Sendrecv(shared_.data(), static_cast<int>(shared_.size()), MPI_DOUBLE, to_, 0, y.data(),
                 static_cast<int>(y.size()), MPI_DOUBLE, from_, 0, ranks_, MPI_STATUS_IGNORE);
  }

 private:
  struct entry {
    std::size_t row, column;
    double value;
  };
  int length(int piece) const { return static_cast<int>(part(n_, piece, count_).size()); }

  const std::size_t n_;
  const MPI_Comm ranks_;
  const int count_;
  MPI_Comm along_row_ = MPI_COMM_NULL;
  MPI_Comm along_column_ = MPI_COMM_NULL;
  int piece_ = 0;
  int from_ = 0, to_ = 0;                         // across the grid
  std::vector<int> in_row_, in_column_, begins_;  // lengths of pieces, and their places
  std::size_t first_row_ = 0, first_column_ = 0;
  std::vector<entry> entries_;
  vector collected_, sums_, shared_;
};

class conjugate_gradients final : public kernel {
 public:
  conjugate_gradients(std::size_t n, MPI_Comm ranks)
      : n_(n), ranks_(ranks), a_(n, ranks), mine_(a_.piece()) {
    std::fill(b_.begin(), b_.end(), vector(mine_.size(), 0));
    x_ = b_;
    for (std::size_t i = 0; i != n; ++i) {
      add(i, i, shift);
      for (std::size_t e = i * edges; e != (i + 1) * edges; ++e)
        add_edge(i, scrambled(2 * e) % n, 0.5 + scrambled_fraction(2 * e + 1));
    }
    a_.finish();
  }

  void solve() override {
    for (std::size_t s = 0; s != systems; ++s) solve(b_[s], x_[s]);
  }

  void add_to(fingerprint& whole) const override {
    for_each([&](std::size_t s, std::size_t i, double x) { whole.add(s * n_ + i, x); });
  }
  double error() override {
    double mine = 0;
    for_each([&](std::size_t s, std::size_t i, double x) {
      keep_largest(mine, std::fabs(x - answer(s, i)));
    });
    return largest_of(mine, ranks_);
  }
  double allowed_error() const override { return 1e-9; }
  double tolerance() const override { return 1e-10; }  // products and sums of ranks in any order

 private:
  static constexpr std::size_t systems = 5;
  static constexpr std::size_t edges = 6;  // that begin at a node
  static constexpr double shift = 0.1;

  /// Element i of the answer of system s.
  double answer(std::size_t s, std::size_t i) const { return scrambled_fraction(s * n_ + i); }

  template <typename Work>
  void for_each(const Work& work) const {
    for (std::size_t s = 0; s != systems; ++s)
      for (std::size_t i = mine_.begin; i != mine_.end; ++i) work(s, i, x_[s][i - mine_.begin]);
  }

  /// Adds to A[row][column], and to the right sides what A times the answers has from it: that does
  /// not use multiply().
  void add(std::size_t row, std::size_t column, double value) {
    a_.add(row, column, value);
    if (row - mine_.begin < mine_.size())
      for (std::size_t s = 0; s != systems; ++s)
        b_[s][row - mine_.begin] += value * answer(s, column);
  }
  void add_edge(std::size_t i, std::size_t j, double w) {
    if (i == j) return;
    add(i, i, w);
    add(j, j, w);
    add(i, j, -w);
    add(j, i, -w);
  }

  double dot(const vector& a, const vector& b) const {
    return sum_of(std::inner_product(a.begin(), a.end(), b.begin(), 0.0), ranks_);
  }

  void solve(const vector& b, vector& x) {
    std::fill(x.begin(), x.end(), 0.0);
    vector r = b;
    vector p = b;
    vector ap(b.size());
    double rr = dot(r, r);
    const double enough = 1e-24 * rr;
    for (int step = 0; step != 500 && rr > enough; ++step) {
      a_.multiply(p, ap);
      const double alpha = rr / dot(p, ap);
      for (std::size_t i = 0; i != x.size(); ++i) {
        x[i] += alpha * p[i];
        r[i] -= alpha * ap[i];
      }
      const double before = std::exchange(rr, dot(r, r));
      for (std::size_t i = 0; i != p.size(); ++i) p[i] = r[i] + rr / before * p[i];
    }
  }

  const std::size_t n_;
  const MPI_Comm ranks_;
  blocks a_;
  const part mine_;
  std::array<vector, systems> b_, x_;
};

}  // namespace

std::unique_ptr<kernel> make_cg(const std::string& problem_class, MPI_Comm ranks) {
  return std::make_unique<conjugate_gradients>(class_sizes{1400, 7000, 14000}.of(problem_class),
                                               ranks);
}

}  // namespace weft::bench::mpi
