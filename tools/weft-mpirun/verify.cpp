// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

namespace weft::mpirun {

namespace {

// The binary interface of Open MPI 1.7 to 5: handles are addresses of objects of the library.
constexpr const char* library_name = "libmpi.so.40";
using handle = void*;

class open_mpi {
 public:
  open_mpi() : library_(::dlopen(library_name, RTLD_NOW | RTLD_GLOBAL)) {
    if (library_ == nullptr)
      throw std::runtime_error(fmt::format(
          "{}: install the library of Open MPI (libopenmpi3, libopenmpi40)", ::dlerror()));
  }

  handle object(const char* name) const {
    void* found = ::dlsym(library_, name);
    if (found == nullptr) throw std::runtime_error(fmt::format("{} has no {}", library_name, name));
    return found;
  }

  /// Calls a function of MPI; MPI's errors end the program.
  template <class... Args>
  void call(const char* name, Args... args) const {
    reinterpret_cast<int (*)(Args...)>(object(name))(args...);
  }

 private:
  void* library_;
};

unsigned char pattern(int rank, std::size_t i) {
  return static_cast<unsigned char>(static_cast<std::size_t>(rank) * 31 + i * 7 + i / 251);
}

}  // namespace

int verify_rank() try {
  const open_mpi mpi;
  const handle world = mpi.object("ompi_mpi_comm_world");
  mpi.call("MPI_Init", static_cast<int*>(nullptr), static_cast<char***>(nullptr));
  int rank = 0;
  int size = 1;
  mpi.call("MPI_Comm_rank", world, &rank);
  mpi.call("MPI_Comm_size", world, &size);

  constexpr std::size_t bytes = 1 << 20;
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  std::vector<unsigned char> out(bytes);
  std::vector<unsigned char> in(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = pattern(rank, i);
  const handle byte = mpi.object("ompi_mpi_byte");
  mpi.call("MPI_Sendrecv", static_cast<const void*>(out.data()), static_cast<int>(bytes), byte,
           next, 1, static_cast<void*>(in.data()), static_cast<int>(bytes), byte, before, 1, world,
           static_cast<void*>(nullptr));
  int wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    if (in[i] != pattern(before, i)) ++wrong;
  if (wrong != 0)
    fmt::print(stderr, "rank {}: {} of {} bytes from rank {} are wrong\n", rank, wrong, bytes,
               before);

  int all[2] = {0, 0};
  const int mine[2] = {rank + 1, wrong};
  mpi.call("MPI_Allreduce", static_cast<const void*>(mine), static_cast<void*>(all), 2,
           mpi.object("ompi_mpi_int"), mpi.object("ompi_mpi_op_sum"), world);
  const bool sum_right = all[0] == size * (size + 1) / 2;
  if (!sum_right)
    fmt::print(stderr, "rank {}: the sum of all ranks is {}, not {}\n", rank, all[0],
               size * (size + 1) / 2);
  const bool good = sum_right && all[1] == 0;
  if (rank == 0 && good)
    fmt::print("verified: {} ranks exchanged {} bytes each and added up numbers\n", size, bytes);
  std::fflush(stdout);
  mpi.call("MPI_Finalize");
  return good ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "weft-mpirun --verify: {}\n", e.what());
  return 1;
}

}  // namespace weft::mpirun
