// SPDX-License-Identifier: Apache-2.0
// The calls of MPI that end in a persistent send of Open MPI 4, whose `pml cm` sends from the
// buffer's address on, wherever the data of a type without holes begin. Each is passed on with a
// type whose data are packed. docs/adr/0048-mending-open-mpi-4.md
#include <cstddef>

#include "bindings/open_mpi_4/packed_types.hpp"

namespace weft::open_mpi_4 {

namespace {

/// Of the process, because MPI's calls have no argument that could carry them.
packed_types& packed() noexcept {
  static constinit packed_types all;
  return all;
}

/// For types of data that a rank sends.
int pack(handle& type) noexcept { return packed().take_place_of(type); }

int pack_both(handle& one, handle& other) noexcept {
  const int wrong = pack(one);
  return wrong == success ? pack(other) : wrong;
}

/// With MPI_IN_PLACE for the buffer the type has no meaning, and nothing is sent from there.
int pack_part(const void* buffer, handle& type) noexcept {
  return is_in_place(buffer) ? success : pack(type);
}

/// With MPI_NO_OP nothing is sent from this rank, and the type for it has no meaning.
int pack_for(handle op, handle& type, handle& its) noexcept {
  static constinit named no_op("ompi_mpi_op_no_op", named::what::object);
  return op == no_op.address() ? pack(its) : pack_both(type, its);
}

int forget(const handle* type) noexcept {
  if (type != nullptr) packed().forget(*type);
  return success;
}

int wait(handle request) noexcept {
  static constinit call wait_for("PMPI_Wait");
  return wait_for(&request, static_cast<void*>(nullptr));
}

}  // namespace

}  // namespace weft::open_mpi_4

using namespace weft::open_mpi_4;

// Both names of a call: C programs call MPI_..., Fortran's libraries and tools PMPI_... A tool that
// is loaded after this library hears of a call by either.
#define WEFT_CALL_OF(prefix, name, parameters, first, ...)       \
  int prefix##name parameters {                                  \
    static constinit call next(#prefix #name);                   \
    if (const int wrong = first; wrong != success) return wrong; \
    return next(__VA_ARGS__);                                    \
  }
#define WEFT_CALL(name, parameters, first, ...)            \
  WEFT_CALL_OF(MPI_, name, parameters, first, __VA_ARGS__) \
  WEFT_CALL_OF(PMPI_, name, parameters, first, __VA_ARGS__)

extern "C" {

/// Tells the provider that this library is there.
extern const int weft_open_mpi_4 = 1;

WEFT_CALL(Send_init, (const void* b, int n, handle type, int to, int tag, handle comm, handle* r),
          pack(type), b, n, type, to, tag, comm, r)
WEFT_CALL(Ssend_init, (const void* b, int n, handle type, int to, int tag, handle comm, handle* r),
          pack(type), b, n, type, to, tag, comm, r)
WEFT_CALL(Rsend_init, (const void* b, int n, handle type, int to, int tag, handle comm, handle* r),
          pack(type), b, n, type, to, tag, comm, r)

WEFT_CALL(Alltoall, (const void* b, int n, handle type, void* in, int m, handle its, handle comm),
          pack_part(b, type), b, n, type, in, m, its, comm)
WEFT_CALL(Alltoallv,
          (const void* b, const int* n, const int* at, handle type, void* in, const int* m,
           const int* into, handle its, handle comm),
          pack_part(b, type), b, n, at, type, in, m, into, its, comm)

// Each rank starts the same call, and Open MPI's way for this one has no persistent sends.
#define WEFT_ALLTOALLW(prefix)                                                                     \
  int prefix##Alltoallw(const void* b, const int* n, const int* at, const handle* types, void* in, \
                        const int* m, const int* into, const handle* its, handle comm) {           \
    static constinit call start(#prefix "Ialltoallw");                                             \
    handle request = nullptr;                                                                      \
    const int wrong = start(b, n, at, types, in, m, into, its, comm, &request);                    \
    return wrong == success ? wait(request) : wrong;                                               \
  }
WEFT_ALLTOALLW(MPI_)
WEFT_ALLTOALLW(PMPI_)

WEFT_CALL(Put,
          (const void* b, int n, handle type, int to, std::ptrdiff_t at, int m, handle its,
           handle window),
          pack(type), b, n, type, to, at, m, its, window)
WEFT_CALL(Rput,
          (const void* b, int n, handle type, int to, std::ptrdiff_t at, int m, handle its,
           handle window, handle* r),
          pack(type), b, n, type, to, at, m, its, window, r)
WEFT_CALL(Accumulate,
          (const void* b, int n, handle type, int to, std::ptrdiff_t at, int m, handle its,
           handle op, handle window),
          pack(type), b, n, type, to, at, m, its, op, window)
WEFT_CALL(Raccumulate,
          (const void* b, int n, handle type, int to, std::ptrdiff_t at, int m, handle its,
           handle op, handle window, handle* r),
          pack(type), b, n, type, to, at, m, its, op, window, r)

// Here the other rank sends, too: what has its type.
WEFT_CALL(Get,
          (void* b, int n, handle type, int from, std::ptrdiff_t at, int m, handle its,
           handle window),
          pack(its), b, n, type, from, at, m, its, window)
WEFT_CALL(Rget,
          (void* b, int n, handle type, int from, std::ptrdiff_t at, int m, handle its,
           handle window, handle* r),
          pack(its), b, n, type, from, at, m, its, window, r)
WEFT_CALL(Get_accumulate,
          (const void* b, int n, handle type, void* in, int k, handle type_in, int to,
           std::ptrdiff_t at, int m, handle its, handle op, handle window),
          pack_for(op, type, its), b, n, type, in, k, type_in, to, at, m, its, op, window)
WEFT_CALL(Rget_accumulate,
          (const void* b, int n, handle type, void* in, int k, handle type_in, int to,
           std::ptrdiff_t at, int m, handle its, handle op, handle window, handle* r),
          pack_for(op, type, its), b, n, type, in, k, type_in, to, at, m, its, op, window, r)

WEFT_CALL(Type_free, (handle * type), forget(type), type)

}  // extern "C"
