// SPDX-License-Identifier: Apache-2.0
// A two-dimensional Fourier transform by FFTW's MPI library: a small one is checked against the sum
// that defines it, a larger one by Parseval's theorem and by its inverse. Prints numbers of the
// result, for comparison between transports.
#include <fftw3-mpi.h>
#include <mpi.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

namespace {

using value = std::complex<double>;
constexpr double pi = 3.14159265358979323846;

value input(std::ptrdiff_t x, std::ptrdiff_t y) {
  return {std::sin(0.7 * static_cast<double>(x) + 1.3 * static_cast<double>(y)),
          static_cast<double>((x * 7 + y * 3) % 11) / 11};
}

/// One element of the transform, from its definition.
value defined(std::ptrdiff_t nx, std::ptrdiff_t ny, std::ptrdiff_t kx, std::ptrdiff_t ky) {
  value sum = 0;
  for (std::ptrdiff_t x = 0; x < nx; ++x)
    for (std::ptrdiff_t y = 0; y < ny; ++y) {
      const double turn = static_cast<double>(kx * x) / static_cast<double>(nx) +
                          static_cast<double>(ky * y) / static_cast<double>(ny);
      sum += input(x, y) * std::polar(1.0, -2 * pi * turn);
    }
  return sum;
}

double over_all(double mine, MPI_Op op) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  return all;
}

/// \returns whether all was right, the same on all ranks
bool transform(std::ptrdiff_t nx, std::ptrdiff_t ny, bool beside_definition, int rank) {
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t first = 0;
  const std::ptrdiff_t room = fftw_mpi_local_size_2d(nx, ny, MPI_COMM_WORLD, &rows, &first);
  std::vector<value> data(static_cast<std::size_t>(room));
  auto* raw = reinterpret_cast<fftw_complex*>(data.data());
  const fftw_plan there =
      fftw_mpi_plan_dft_2d(nx, ny, raw, raw, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
  const fftw_plan back =
      fftw_mpi_plan_dft_2d(nx, ny, raw, raw, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
  const auto at = [&](std::ptrdiff_t x, std::ptrdiff_t y) -> value& {
    return data[static_cast<std::size_t>(x * ny + y)];
  };
  double before = 0;
  for (std::ptrdiff_t x = 0; x < rows; ++x)
    for (std::ptrdiff_t y = 0; y < ny; ++y) before += std::norm(at(x, y) = input(first + x, y));
  fftw_execute(there);
  double after = 0;
  double off = 0;
  for (std::ptrdiff_t x = 0; x < rows; ++x)
    for (std::ptrdiff_t y = 0; y < ny; ++y) {
      after += std::norm(at(x, y));
      if (beside_definition)
        off = std::max(off, std::abs(at(x, y) - defined(nx, ny, first + x, y)));
    }
  fftw_execute(back);
  const auto count = static_cast<double>(nx * ny);
  for (std::ptrdiff_t x = 0; x < rows; ++x)
    for (std::ptrdiff_t y = 0; y < ny; ++y)
      off = std::max(off, std::abs(at(x, y) / count - input(first + x, y)));
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  before = over_all(before, MPI_SUM);
  after = over_all(after, MPI_SUM) / count;
  off = over_all(off, MPI_MAX);
  const bool right = std::abs(before - after) < 1e-9 * before && off < 1e-9;
  if (rank == 0)
    std::printf("%td x %td: energy %.5f, transformed %.5f, %s\n", nx, ny, before, after,
                right ? "right" : "WRONG");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool small = transform(18, 20, true, rank);
  const bool large = transform(512, 384, false, rank);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return small && large ? 0 : 1;
}
