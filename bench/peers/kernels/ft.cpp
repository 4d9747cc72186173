// SPDX-License-Identifier: Apache-2.0
// Heat in a periodic cube of n^3 points: one Fourier transform of the beginning; then for each
// moment the waves decay, each by its own factor, and an inverse transform shows the temperatures.
// Each rank has planes of the cube, in which it transforms along x and y; for z all ranks exchange
// all with all.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <vector>

#include "peers/kernels/kernel.hpp"

namespace weft::bench::mpi {
namespace {

using number = std::complex<double>;

/// The Fourier transform of a line of n numbers, a power of two.
class line_transform {
 public:
  explicit line_transform(std::size_t n) : turns_(n / 2), mirrored_(n) {
    for (std::size_t i = 0; i != turns_.size(); ++i)
      turns_[i] =
          std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
    for (std::size_t i = 1; i != n; ++i)
      mirrored_[i] = mirrored_[i / 2] / 2 + (i % 2 != 0 ? n / 2 : 0);
  }

  void forward(number* line) const {
    run(line, [](number turn) { return turn; });
  }
  /// Not divided by n.
  void back(number* line) const {
    run(line, [](number turn) { return std::conj(turn); });
  }

 private:
  template <typename Turn>
  void run(number* line, const Turn& turned) const {
    const std::size_t n = mirrored_.size();
    for (std::size_t i = 0; i != n; ++i)
      if (i < mirrored_[i]) std::swap(line[i], line[mirrored_[i]]);
    for (std::size_t half = 1; half != n; half *= 2)
      for (std::size_t start = 0; start != n; start += 2 * half)
        for (std::size_t i = 0; i != half; ++i) {
          const number turn = turned(turns_[i * (n / 2 / half)]);
          const number low = line[start + i];
          const number high = line[start + half + i];
          // Without the questions of std::complex after infinities.
          const number moved(high.real() * turn.real() - high.imag() * turn.imag(),
                             high.real() * turn.imag() + high.imag() * turn.real());
          line[start + i] = low + moved;
          line[start + half + i] = low - moved;
        }
  }

  std::vector<number> turns_;
  std::vector<std::size_t> mirrored_;  // bits of the place in reverse order
};

class heat final : public kernel {
 public:
  heat(std::size_t n, MPI_Comm ranks)
      : n_(n), ranks_(ranks), count_(static_cast<std::size_t>(size_of(ranks))), line_(n), one_(n) {
    if (n % count_ != 0)
      throw std::invalid_argument(
          "ft shares out whole planes: the number of ranks has to be a "
          "power of two, at most 32 for class S");
    planes_ = n / count_;
    first_ = planes_ * static_cast<std::size_t>(rank_in(ranks));
    for (auto* all : {&begin_, &cube_, &waves_, &out_, &in_}) all->resize(planes_ * n * n);
    for (std::size_t k = 0; k != n; ++k) {
      const auto turns = static_cast<double>(k <= n / 2 ? k : n - k);
      factors_.push_back(left(turns * turns, 1));
    }
    for_each_point([&](std::size_t at, std::size_t z, std::size_t y, std::size_t x) {
      begin_[at] = temperature(z, y, x, 0);
    });
  }

  void solve() override {
    cube_ = begin_;
    transform_planes([this](number* line) { line_.forward(line); });
    to_columns();
    for (std::size_t i = 0; i != waves_.size(); i += n_) line_.forward(&waves_[i]);
    for (int moment = 1; moment <= moments; ++moment) {
      decay();
      in_ = waves_;
      for (std::size_t i = 0; i != in_.size(); i += n_) line_.back(&in_[i]);
      to_planes();
      transform_planes([this](number* line) { line_.back(line); });
    }
  }

  void add_to(fingerprint& whole) const override {
    for_each_point([&](std::size_t at, std::size_t z, std::size_t y, std::size_t x) {
      whole.add((z * n_ + y) * n_ + x, cube_[at].real() / scale());
    });
  }
  double error() override {
    double mine = 0;
    for_each_point([&](std::size_t at, std::size_t z, std::size_t y, std::size_t x) {
      keep_largest(mine, std::abs(cube_[at] / scale() - temperature(z, y, x, moments)));
    });
    return largest_of(mine, ranks_);
  }
  double allowed_error() const override { return 1e-11; }
  double tolerance() const override { return 1e-13; }  // each line is transformed by one rank

 private:
  static constexpr int moments = 4;
  static constexpr double speed = 1e-3;  // of the decay, in the unit of a moment
  static constexpr double circle = 2 * std::numbers::pi;

  double scale() const { return static_cast<double>(n_ * n_ * n_); }
  /// The factor by which a wave with k^2 = `squares` decays in a moment.
  static double left(double squares, double moment) {
    return std::exp(-circle * circle * speed * squares * moment);
  }

  /// The known answer: a few waves, of which each decays alone.
  double temperature(std::size_t z, std::size_t y, std::size_t x, double moment) const {
    double sum = 0;
    for (std::size_t wave = 1; wave <= 4; ++wave) {
      const std::size_t kx = wave, ky = scrambled(wave) % 5, kz = 5 - wave;
      const double turns = static_cast<double>(kx * x + ky * y + kz * z) / static_cast<double>(n_);
      sum += left(static_cast<double>(kx * kx + ky * ky + kz * kz), moment) *
             std::cos(circle * (turns + scrambled_fraction(wave)));
    }
    return sum;
  }

  template <typename Work>
  void for_each_point(const Work& work) const {
    std::size_t at = 0;
    for (std::size_t z = first_; z != first_ + planes_; ++z)
      for (std::size_t y = 0; y != n_; ++y)
        for (std::size_t x = 0; x != n_; ++x) work(at++, z, y, x);
  }

  template <typename Transform>
  void transform_planes(const Transform& transform) {
    for (std::size_t z = 0; z != planes_; ++z) {
      number* const plane = &cube_[z * n_ * n_];
      for (std::size_t y = 0; y != n_; ++y) transform(plane + y * n_);
      for (std::size_t x = 0; x != n_; ++x) {
        for (std::size_t y = 0; y != n_; ++y) one_[y] = plane[y * n_ + x];
        transform(one_.data());
        for (std::size_t y = 0; y != n_; ++y) plane[y * n_ + x] = one_[y];
      }
    }
  }

  void exchange(const std::vector<number>& out, std::vector<number>& in) {
    const int each = static_cast<int>(2 * out.size() / count_);
    MPI_Alltoall(out.data(), each, MPI_DOUBLE, in.data(), each, MPI_DOUBLE, ranks_);
  }

  /// A rank's planes of all y become all planes of a rank's y; then z lies in lines.
  void to_columns() {
    auto to = out_.begin();
    for (std::size_t rank = 0; rank != count_; ++rank)
      for (std::size_t z = 0; z != planes_; ++z)
        to = std::copy_n(&cube_[(z * n_ + rank * planes_) * n_], planes_ * n_, to);
    exchange(out_, in_);
    const number* from = in_.data();
    for (std::size_t z = 0; z != n_; ++z)
      for (std::size_t yx = 0; yx != planes_ * n_; ++yx) waves_[yx * n_ + z] = *from++;
  }
  /// The way back, of what in_ has.
  void to_planes() {
    number* to = out_.data();
    for (std::size_t z = 0; z != n_; ++z)
      for (std::size_t yx = 0; yx != planes_ * n_; ++yx) *to++ = in_[yx * n_ + z];
    exchange(out_, in_);
    const number* from = in_.data();
    for (std::size_t rank = 0; rank != count_; ++rank)
      for (std::size_t z = 0; z != planes_; ++z, from += planes_ * n_)
        std::copy_n(from, planes_ * n_, &cube_[(z * n_ + rank * planes_) * n_]);
  }

  /// One moment more. The factor of a wave is the product of those of its directions.
  void decay() {
    number* wave = waves_.data();
    for (std::size_t y = first_; y != first_ + planes_; ++y)
      for (std::size_t x = 0; x != n_; ++x)
        for (std::size_t z = 0; z != n_; ++z) *wave++ *= factors_[x] * factors_[y] * factors_[z];
  }

  const std::size_t n_;
  const MPI_Comm ranks_;
  const std::size_t count_;
  const line_transform line_;
  std::size_t planes_ = 0;  // of this rank, and the first of them
  std::size_t first_ = 0;
  std::vector<number> begin_, cube_, waves_, out_, in_;
  std::vector<number> one_;      // a line along y
  std::vector<double> factors_;  // of the wave number in one direction, for a moment
};

}  // namespace

std::unique_ptr<kernel> make_ft(const std::string& problem_class, MPI_Comm ranks) {
  return std::make_unique<heat>(class_sizes{32, 64, 128}.of(problem_class), ranks);
}

}  // namespace weft::bench::mpi
