// SPDX-License-Identifier: Apache-2.0
// Poisson's equation on a periodic cube of n^3 points by multigrid: V-cycles from n down to 4
// points in each direction. Every step on every level begins with an exchange of the surfaces
// between neighbours: long messages on the fine levels, and ever shorter ones, with less work in
// between, on the coarse ones.
#include <mpi.h>

#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "peers/kernels/kernel.hpp"

namespace weft::bench::mpi {
namespace {

/// The ranks as a three-dimensional grid that is closed in all directions.
struct torus {
  explicit torus(MPI_Comm all) {
    MPI_Dims_create(size_of(all), 3, grid.data());
    const std::array<int, 3> closed{1, 1, 1};
    MPI_Cart_create(all, 3, grid.data(), closed.data(), 0, &ranks);
    MPI_Cart_coords(ranks, rank_in(ranks), 3, place.data());
    for (int d = 0; d != 3; ++d)
      MPI_Cart_shift(ranks, d, 1, &before[static_cast<std::size_t>(d)],
                     &behind[static_cast<std::size_t>(d)]);
  }
  torus(const torus&) = delete;
  torus& operator=(const torus&) = delete;
  ~torus() { MPI_Comm_free(&ranks); }

  MPI_Comm ranks = MPI_COMM_NULL;
  std::array<int, 3> grid{}, place{}, before{}, behind{};
};

/// Numbers at this rank's points of a level, from 1 on in each direction, within a halo of one.
class field {
 public:
  explicit field(std::array<std::size_t, 3> points)
      : strides_{(points[1] + 2) * (points[2] + 2), points[2] + 2, 1},
        points_(points),
        values_((points[0] + 2) * strides_[0]) {}

  double& at(std::size_t k, std::size_t j, std::size_t i) {
    return values_[k * strides_[0] + j * strides_[1] + i];
  }
  double at(std::size_t k, std::size_t j, std::size_t i) const {
    return values_[k * strides_[0] + j * strides_[1] + i];
  }
  void clear() { values_.assign(values_.size(), 0); }

  /// work(k, j, i) for each of the points.
  template <typename Work>
  void for_each(const Work& work) const {
    for (std::size_t k = 1; k <= points_[0]; ++k)
      for (std::size_t j = 1; j <= points_[1]; ++j)
        for (std::size_t i = 1; i <= points_[2]; ++i) work(k, j, i);
  }

  /// The sum of the six neighbours.
  double around(std::size_t k, std::size_t j, std::size_t i) const {
    return at(k - 1, j, i) + at(k + 1, j, i) + at(k, j - 1, i) + at(k, j + 1, i) + at(k, j, i - 1) +
           at(k, j, i + 1);
  }

  /// Fills the halo, edges and corners too: a direction takes along what those before it have.
  void exchange(const torus& to) {
    for (std::size_t d = 0; d != 3; ++d) {
      move(to, d, points_[d], to.behind[d], 0, to.before[d]);
      move(to, d, 1, to.before[d], points_[d] + 1, to.behind[d]);
    }
  }

 private:
  /// Sends the surface at `out` of direction d, receives that at `in`.
  void move(const torus& to, std::size_t d, std::size_t out, int target, std::size_t in,
            int source) {
    const std::size_t a = d == 0 ? 1 : 0;
    const std::size_t b = d == 2 ? 1 : 2;
    const auto each = [&](std::size_t where, auto&& copy) {
      for (std::size_t p = 0; p != points_[a] + 2; ++p)
        for (std::size_t q = 0; q != points_[b] + 2; ++q)
          copy(values_[where * strides_[d] + p * strides_[a] + q * strides_[b]]);
    };
    surface_.clear();
    each(out, [this](double value) { surface_.push_back(value); });
    MPI_Sendrecv_replace(surface_.data(), static_cast<int>(surface_.size()), MPI_DOUBLE, target, 0,
                         source, 0, to.ranks, MPI_STATUS_IGNORE);
    const double* from = surface_.data();
    each(in, [&from](double& value) { value = *from++; });
  }

  std::array<std::size_t, 3> strides_;
  std::array<std::size_t, 3> points_;
  std::vector<double> values_;
  std::vector<double> surface_;
};

/// One level: -(the Laplacian of u) = f.
struct level {
  level(std::size_t n, std::array<std::size_t, 3> points)
      : h(1.0 / static_cast<double>(n)), u(points), f(points), r(points) {}
  double h;  // from a point to the next
  field u, f, r;
};

class multigrid final : public kernel {
 public:
  multigrid(std::size_t n, MPI_Comm ranks) : n_(n), torus_(ranks) {
    for (const int parts : torus_.grid)
      if (coarsest % static_cast<std::size_t>(parts) != 0)
        throw std::invalid_argument(
            "mg divides each direction by 1, 2 or 4: the number of ranks has to be a power of two "
            "up to 64");
    for (std::size_t points = n; points >= coarsest; points /= 2)
      levels_.emplace_back(points, own(points));
    for (std::size_t d = 0; d != 3; ++d)
      first_[d] = static_cast<std::size_t>(torus_.place[d]) * own(n)[d];
    for_each_point([this](std::size_t k, std::size_t j, std::size_t i) {
      finest().f.at(k, j, i) = sum_of_waves(k, j, i, true);
    });
  }

  void solve() override {
    finest().u.clear();
    const double start = residual(finest());
    double now = start;
    for (int cycle = 0; cycle != 50 && now > 1e-11 * start; ++cycle) {
      descend(0);
      now = residual(finest());
    }
  }

  void add_to(fingerprint& whole) const override {
    levels_.front().u.for_each([&](std::size_t k, std::size_t j, std::size_t i) {
      const std::size_t plane = first_[0] + k - 1, row = first_[1] + j - 1;
      whole.add((plane * n_ + row) * n_ + first_[2] + i - 1, levels_.front().u.at(k, j, i));
    });
  }
  double error() override {
    double mine = 0;
    for_each_point([&](std::size_t k, std::size_t j, std::size_t i) {
      keep_largest(mine, std::fabs(finest().u.at(k, j, i) - sum_of_waves(k, j, i, false)));
    });
    return largest_of(mine, torus_.ranks);
  }
  double allowed_error() const override { return 1e-9; }
  double tolerance() const override { return 1e-13; }  // only the residual is summed up

 private:
  static constexpr std::size_t coarsest = 4;
  static constexpr double damping = 6.0 / 7;

  level& finest() { return levels_.front(); }
  std::array<std::size_t, 3> own(std::size_t points) const {
    std::array<std::size_t, 3> result{};
    for (std::size_t d = 0; d != 3; ++d)
      result[d] = points / static_cast<std::size_t>(torus_.grid[d]);
    return result;
  }
  template <typename Work>
  void for_each_point(const Work& work) {
    finest().u.for_each(work);
  }

  /// The known answer at a point of this rank: some waves; or what -(the Laplacian) makes of each.
  double sum_of_waves(std::size_t k, std::size_t j, std::size_t i, bool laplacian) const {
    const auto n = static_cast<double>(n_);
    const double circle = 2 * std::numbers::pi;
    const std::array<std::size_t, 3> at{k, j, i};
    double sum = 0;
    for (std::size_t wave = 0; wave != 5; ++wave) {
      double turns = scrambled_fraction(wave);
      double factor = 0;
      for (std::size_t d = 0; d != 3; ++d) {
        const auto number = static_cast<double>(1 + scrambled(10 + 3 * wave + d) % (n_ / 4));
        turns += number * static_cast<double>(first_[d] + at[d]) / n;
        factor += 2 * n * n * (1 - std::cos(circle * number / n));
      }
      sum += (laplacian ? factor : 1) * std::sin(circle * turns);
    }
    return sum;
  }

  /// r = f + (the Laplacian of u), and its norm on this rank, squared.
  double find_residual(level& on) {
    on.u.exchange(torus_);
    const double squared = 1 / (on.h * on.h);
    double sum = 0;
    on.u.for_each([&](std::size_t k, std::size_t j, std::size_t i) {
      const double r = on.f.at(k, j, i) + squared * (on.u.around(k, j, i) - 6 * on.u.at(k, j, i));
      on.r.at(k, j, i) = r;
      sum += r * r;
    });
    return sum;
  }
  double residual(level& on) { return std::sqrt(sum_of(find_residual(on), torus_.ranks)); }

  void smooth(level& on, int times) {
    for (; times != 0; --times) {
      find_residual(on);
      const double step = damping * on.h * on.h / 6;
      on.u.for_each([&](std::size_t k, std::size_t j, std::size_t i) {
        on.u.at(k, j, i) += step * on.r.at(k, j, i);
      });
    }
  }

  void descend(std::size_t depth) {
    level& fine = levels_[depth];
    if (depth + 1 == levels_.size()) return smooth(fine, 20);
    smooth(fine, 2);
    find_residual(fine);
    restrict_to(levels_[depth + 1], fine);
    descend(depth + 1);
    correct(fine, levels_[depth + 1]);
    smooth(fine, 2);
  }

  /// Point i of the coarse level lies at point 2i - 1 of the fine one; its neighbours there have
  /// half of its weight in each direction.
  void restrict_to(level& coarse, level& fine) {
    fine.r.exchange(torus_);
    coarse.u.clear();
    coarse.f.for_each([&](std::size_t k, std::size_t j, std::size_t i) {
      double sum = 0;
      for (std::size_t c = 0; c != 3; ++c)
        for (std::size_t b = 0; b != 3; ++b)
          for (std::size_t a = 0; a != 3; ++a)
            sum += weight[c] * weight[b] * weight[a] *
                   fine.r.at(2 * k - 2 + c, 2 * j - 2 + b, 2 * i - 2 + a);
      coarse.f.at(k, j, i) = sum;
    });
  }

  /// Adds the coarse solution to the fine one; in between it is interpolated.
  void correct(level& fine, level& coarse) {
    coarse.u.exchange(torus_);
    fine.u.for_each([&](std::size_t k, std::size_t j, std::size_t i) {
      // An odd point is one of the coarse level: both ends are the same.
      double sum = 0;
      for (const auto c : {(k + 1) / 2, k / 2 + 1})
        for (const auto b : {(j + 1) / 2, j / 2 + 1})
          for (const auto a : {(i + 1) / 2, i / 2 + 1}) sum += coarse.u.at(c, b, a);
      fine.u.at(k, j, i) += sum / 8;
    });
  }

  static constexpr std::array<double, 3> weight{0.25, 0.5, 0.25};
  const std::size_t n_;
  const torus torus_;
  std::vector<level> levels_;  // the finest first
  std::array<std::size_t, 3> first_{};
};

}  // namespace

std::unique_ptr<kernel> make_mg(const std::string& problem_class, MPI_Comm ranks) {
  return std::make_unique<multigrid>(class_sizes{16, 64, 128}.of(problem_class), ranks);
}

}  // namespace weft::bench::mpi
