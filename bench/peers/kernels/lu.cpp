// SPDX-License-Identifier: Apache-2.0
// A linear system on a cube of n^3 points with five numbers each, as an implicit step of a
// diffusion equation has it: (1 + 6 t) u - t (the sum of the six neighbours) = b, zero outside.
// Symmetric Gauss-Seidel solves it. A point needs the new values of its western, northern and lower
// neighbours: so ranks of a two-dimensional grid work on a plane one after the other, while those
// before them are at the next plane already; then the same backwards.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "peers/kernels/kernel.hpp"

namespace weft::bench::mpi {
namespace {

class wavefront final : public kernel {
 public:
  wavefront(std::size_t n, MPI_Comm ranks) : n_(n) {
    std::array<int, 2> grid{};
    const std::array<int, 2> open{};
    MPI_Dims_create(size_of(ranks), 2, grid.data());
    MPI_Cart_create(ranks, 2, grid.data(), open.data(), 0, &ranks_);
    std::array<int, 2> place{};
    MPI_Cart_coords(ranks_, rank_in(ranks_), 2, place.data());
    MPI_Cart_shift(ranks_, 0, 1, &north_, &south_);
    MPI_Cart_shift(ranks_, 1, 1, &west_, &east_);
    const part rows(n, place[0], grid[0]);
    const part columns(n, place[1], grid[1]);
    first_row_ = rows.begin;
    first_column_ = columns.begin;
    nx_ = columns.size();
    ny_ = rows.size();
    row_ = (nx_ + 2) * components;
    plane_ = (ny_ + 2) * row_;
    b_.assign((n_ + 2) * plane_, 0);
    edge_.resize(n_ * ny_ * components);
    for_each_point([&](std::size_t at, std::size_t k, std::size_t j, std::size_t i) {
      for (std::size_t c = 0; c != components; ++c) b_[at + c] = right_side(k, j, i, c);
    });
  }
  wavefront(const wavefront&) = delete;
  ~wavefront() override { MPI_Comm_free(&ranks_); }

  void solve() override {
    u_.assign(b_.size(), 0);
    const double start = residual();
    double now = start;
    for (int step = 0; step != most_steps && now > 1e-12 * start; ++step) {
      for (std::size_t k = 1; k <= n_; ++k) forward(k);
      for (std::size_t k = n_; k >= 1; --k) back(k);
      exchange_faces();
      now = residual();
    }
  }

  void add_to(fingerprint& whole) const override {
    for_each_point([&](std::size_t at, std::size_t k, std::size_t j, std::size_t i) {
      for (std::size_t c = 0; c != components; ++c)
        whole.add(((k * n_ + j) * n_ + i) * components + c, u_[at + c]);
    });
  }

  double error() override {
    double mine = 0;
    for_each_point([&](std::size_t at, std::size_t k, std::size_t j, std::size_t i) {
      for (std::size_t c = 0; c != components; ++c)
        keep_largest(mine, std::fabs(u_[at + c] - answer(k, j, i, c)));
    });
    return largest_of(mine, ranks_);
  }
  double allowed_error() const override { return 1e-9; }
  double tolerance() const override { return 1e-13; }  // only the residual is summed up

 private:
  static constexpr std::size_t components = 5;
  static constexpr double t = 1.0;
  static constexpr int most_steps = 200;

  /// Of point (k, j, i), counted from 0 in the whole cube.
  double answer(std::size_t k, std::size_t j, std::size_t i, std::size_t c) const {
    if (k >= n_ || j >= n_ || i >= n_) return 0;  // 0 - 1 as well
    return scrambled_fraction(((k * n_ + j) * n_ + i) * components + c);
  }
  double right_side(std::size_t k, std::size_t j, std::size_t i, std::size_t c) const {
    return (1 + 6 * t) * answer(k, j, i, c) -
           t * (answer(k - 1, j, i, c) + answer(k + 1, j, i, c) + answer(k, j - 1, i, c) +
                answer(k, j + 1, i, c) + answer(k, j, i - 1, c) + answer(k, j, i + 1, c));
  }

  /// Where a point of this rank lies: planes, rows and columns are counted from 1 within the halo.
  std::size_t index(std::size_t k, std::size_t j, std::size_t i) const {
    return k * plane_ + j * row_ + i * components;
  }
  template <typename Work>
  void for_each_point(const Work& work) const {
    for (std::size_t k = 1; k <= n_; ++k)
      for (std::size_t j = 1; j <= ny_; ++j)
        for (std::size_t i = 1; i <= nx_; ++i)
          work(index(k, j, i), k - 1, first_row_ + j - 1, first_column_ + i - 1);
  }

  double neighbours(std::size_t at) const {
    return u_[at - plane_] + u_[at + plane_] + u_[at - row_] + u_[at + row_] + u_[at - components] +
           u_[at + components];
  }
  void relax(std::size_t at) {
    for (std::size_t c = at; c != at + components; ++c)
      u_[c] = (b_[c] + t * neighbours(c)) / (1 + 6 * t);
  }

  void forward(std::size_t k) {
    receive_column(k, 0, west_);
    receive_row(k, 0, north_);
    for (std::size_t j = 1; j <= ny_; ++j)
      for (std::size_t i = 1; i <= nx_; ++i) relax(index(k, j, i));
    send_column(k, nx_, east_);
    send_row(k, ny_, south_);
  }
  void back(std::size_t k) {
    receive_column(k, nx_ + 1, east_);
    receive_row(k, ny_ + 1, south_);
    for (std::size_t j = ny_; j >= 1; --j)
      for (std::size_t i = nx_; i >= 1; --i) relax(index(k, j, i));
    send_column(k, 1, west_);
    send_row(k, 1, north_);
  }

  int row_count() const { return static_cast<int>(nx_ * components); }
  int column_count() const { return static_cast<int>(ny_ * components); }

  void receive_row(std::size_t k, std::size_t j, int from) {
    MPI_Recv(&u_[index(k, j, 1)], row_count(), MPI_DOUBLE, from, 0, ranks_, MPI_STATUS_IGNORE);
  }
  void send_row(std::size_t k, std::size_t j, int to) {
    MPI_Send(&u_[index(k, j, 1)], row_count(), MPI_DOUBLE, to, 0, ranks_);
  }
  void receive_column(std::size_t k, std::size_t i, int from) {
    if (from == MPI_PROC_NULL) return;
    MPI_Recv(edge_.data(), column_count(), MPI_DOUBLE, from, 0, ranks_, MPI_STATUS_IGNORE);
    unpack(k, k, i);
  }
  void send_column(std::size_t k, std::size_t i, int to) {
    if (to == MPI_PROC_NULL) return;
    pack(k, k, i);
    MPI_Send(edge_.data(), column_count(), MPI_DOUBLE, to, 0, ranks_);
  }

  /// Column i of the planes from `first` to `last`.
  void pack(std::size_t first, std::size_t last, std::size_t i) {
    auto to = edge_.begin();
    for (std::size_t k = first; k <= last; ++k)
      for (std::size_t j = 1; j <= ny_; ++j) to = std::copy_n(&u_[index(k, j, i)], components, to);
  }
  void unpack(std::size_t first, std::size_t last, std::size_t i) {
    const double* from = edge_.data();
    for (std::size_t k = first; k <= last; ++k)
      for (std::size_t j = 1; j <= ny_; ++j, from += components)
        std::copy_n(from, components, &u_[index(k, j, i)]);
  }

  /// The residual needs what the last sweep changed in the west and in the north.
  void exchange_faces() {
    const int count = static_cast<int>(n_) * column_count();
    pack(1, n_, nx_);
    MPI_Sendrecv_replace(edge_.data(), count, MPI_DOUBLE, east_, 1, west_, 1, ranks_,
                         MPI_STATUS_IGNORE);
    if (west_ != MPI_PROC_NULL) unpack(1, n_, 0);
    MPI_Datatype face = MPI_DATATYPE_NULL;
    MPI_Type_vector(static_cast<int>(n_), row_count(), static_cast<int>(plane_), MPI_DOUBLE, &face);
    MPI_Type_commit(&face);
    MPI_Sendrecv(&u_[index(1, ny_, 1)], 1, face, south_, 2, &u_[index(1, 0, 1)], 1, face, north_, 2,
                 ranks_, MPI_STATUS_IGNORE);
    MPI_Type_free(&face);
  }

  double residual() const {
    double sum = 0;
    for_each_point([&](std::size_t at, std::size_t, std::size_t, std::size_t) {
      for (std::size_t c = at; c != at + components; ++c) {
        const double r = b_[c] - (1 + 6 * t) * u_[c] + t * neighbours(c);
        sum += r * r;
      }
    });
    return std::sqrt(sum_of(sum, ranks_));
  }

  std::size_t n_;
  std::size_t nx_ = 0;  // columns and rows of this rank
  std::size_t ny_ = 0;
  std::size_t first_row_ = 0;
  std::size_t first_column_ = 0;
  std::size_t row_ = 0;  // from a row, or plane, to the next in memory
  std::size_t plane_ = 0;
  int north_ = 0, south_ = 0, west_ = 0, east_ = 0;
  MPI_Comm ranks_ = MPI_COMM_NULL;
  std::vector<double> u_;
  std::vector<double> b_;
  std::vector<double> edge_;
};

}  // namespace

std::unique_ptr<kernel> make_lu(const std::string& problem_class, MPI_Comm ranks) {
  return std::make_unique<wavefront>(class_sizes{12, 33, 64}.of(problem_class), ranks);
}

}  // namespace weft::bench::mpi
