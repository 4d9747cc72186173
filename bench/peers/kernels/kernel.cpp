// SPDX-License-Identifier: Apache-2.0
#include "peers/kernels/kernel.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace weft::bench::mpi {

std::size_t class_sizes::of(const std::string& problem_class) const {
  if (problem_class == "S") return s;
  if (problem_class == "W") return w;
  if (problem_class == "A") return a;
  throw std::invalid_argument(
      fmt::format("there is no class {} of kernels; there are S, W and A", problem_class));
}

std::unique_ptr<kernel> make_kernel(const std::string& name, const std::string& problem_class,
                                    MPI_Comm ranks) {
  if (name == "lu") return make_lu(problem_class, ranks);
  if (name == "cg") return make_cg(problem_class, ranks);
  if (name == "mg") return make_mg(problem_class, ranks);
  if (name == "ft") return make_ft(problem_class, ranks);
  if (name == "is") return make_is(problem_class, ranks);
  throw std::invalid_argument(
      fmt::format("there is no kernel {}; there are lu, cg, mg, ft and is", name));
}

int size_of(MPI_Comm ranks) {
  int count = 0;
  MPI_Comm_size(ranks, &count);
  return count;
}

int rank_in(MPI_Comm ranks) {
  int mine = 0;
  MPI_Comm_rank(ranks, &mine);
  return mine;
}

double largest_of(double mine, MPI_Comm ranks) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, ranks);
  return mine;
}

double sum_of(double mine, MPI_Comm ranks) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, ranks);
  return mine;
}

}  // namespace weft::bench::mpi
