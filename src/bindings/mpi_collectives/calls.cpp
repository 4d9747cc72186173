// SPDX-License-Identifier: Apache-2.0
// The calls of MPI that come here first. What a call here does not do, the MPI does, at all ranks.
#include <cstddef>
#include <exception>
#include <vector>

#include "bindings/mpi/ranks_here.hpp"
#include "bindings/mpi_collectives/communicators.hpp"
#include "bindings/mpi_collectives/predefined.hpp"

namespace weft::mpi_collectives {

namespace {

using open_mpi::call;
using open_mpi::is_in_place;
using open_mpi::success;

/// Bytes up to which flags are faster than messages.
constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// Of the process, because MPI's calls have no argument that could carry them. Never destroyed: MPI
/// gives attributes back as late as it likes.
communicators& all_communicators() noexcept {
  static auto& all = *new communicators;
  return all;
}

bool is_rank(int root, const flag_communicator& c) noexcept {
  return root >= 0 && static_cast<peer_id>(root) < c.size();
}

mutable_buffer writable(void* at, std::size_t bytes) noexcept {
  return {static_cast<std::byte*>(at), bytes};
}

/// A buffer of any type as plain bytes.
class packed {
 public:
  packed(void* buffer, int count, handle type, std::size_t bytes, handle comm)
      : buffer_(buffer), count_(count), type_(type), comm_(comm), bytes_(bytes) {}

  mutable_buffer bytes() noexcept { return writable(bytes_.data(), bytes_.size()); }
  int pack() noexcept {
    static constinit call next("PMPI_Pack");
    int at = 0;
    return next(static_cast<const void*>(buffer_), count_, type_, bytes_.data(), size(), &at,
                comm_);
  }
  int unpack() noexcept {
    static constinit call next("PMPI_Unpack");
    int at = 0;
    return next(static_cast<const void*>(bytes_.data()), size(), &at, buffer_, count_, type_,
                comm_);
  }

 private:
  int size() const noexcept { return static_cast<int>(bytes_.size()); }

  void* const buffer_;
  const int count_;
  const handle type_, comm_;
  std::vector<std::byte> bytes_;
};

int broadcast_packed(flag_communicator& c, packed data, peer_id root) noexcept {
  if (c.rank() == root)
    if (const int wrong = data.pack(); wrong != success) return wrong;
  const int wrong = c.broadcast(data.bytes(), root);
  return wrong != success || c.rank() == root ? wrong : data.unpack();
}

/// \return whether it was done here
bool broadcast(void* buffer, int count, handle type, int root, handle comm, int& result) noexcept {
  static constinit call get_size("PMPI_Type_size");
  static constinit open_mpi::named none("ompi_mpi_datatype_null", open_mpi::named::what::object);
  if (count <= 0 || !type || type == none.address()) return false;
  flag_communicator* const c = all_communicators().find(comm);
  if (!c || !is_rank(root, *c)) return false;
  const auto from = static_cast<peer_id>(root);
  if (const std::size_t plain = plain_size(type); plain != 0) {
    const std::size_t bytes = plain * static_cast<std::size_t>(count);
    if (bytes > most_bytes || !buffer) return false;
    result = c->broadcast(writable(buffer, bytes), from);
    return true;
  }
  int size = 0;
  if (get_size(type, &size) != success || size <= 0) return false;
  const std::size_t bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
  if (bytes > most_bytes) return false;
  try {
    result = broadcast_packed(*c, packed(buffer, count, type, bytes, comm), from);
  } catch (const std::exception&) {  // no memory: the MPI alone would wait for ranks that have some
    result = c->fail();
  }
  return true;
}

/// A reduction that is done here, or none.
struct reducing {
  reducing(int count, handle type, handle by, handle comm) noexcept {
    if (count <= 0) return;
    how = reduction_of(type, by);
    if (!how) return;
    bytes = how->element * static_cast<std::size_t>(count);
    if (bytes <= most_bytes) of = all_communicators().find(comm);
  }
  flag_communicator* of = nullptr;  ///< null: none
  std::optional<detail::reduction> how;
  std::size_t bytes = 0;
};

bool reduce(const void* mine, void* result_at, int count, handle type, handle by, int root,
            handle comm, int& result) noexcept {
  const reducing r(count, type, by, comm);
  if (!r.of || !is_rank(root, *r.of)) return false;
  const auto to = static_cast<peer_id>(root);
  const bool here = r.of->rank() == to;
  const auto* const in =
      static_cast<const std::byte*>(here && is_in_place(mine) ? result_at : mine);
  result = r.of->reduce({in, r.bytes}, writable(result_at, here ? r.bytes : 0), to, *r.how);
  return true;
}

bool all_reduce(const void* mine, void* result_at, int count, handle type, handle by, handle comm,
                int& result) noexcept {
  const reducing r(count, type, by, comm);
  if (!r.of) return false;
  const auto* const in = static_cast<const std::byte*>(is_in_place(mine) ? result_at : mine);
  result = r.of->all_reduce({in, r.bytes}, writable(result_at, r.bytes), *r.how);
  return true;
}

int begin(int wrong) noexcept {
  // On a host that lacks this library a rank would not do its part.
  if (wrong == success && mpi::are_all_here()) all_communicators().begin();
  return wrong;
}

}  // namespace

}  // namespace weft::mpi_collectives

using namespace weft::mpi_collectives;

// Both names of a call: C programs call MPI_..., Fortran's libraries and tools PMPI_... .
#define WEFT_CALLS(prefix)                                                                         \
  int prefix##Init(int* argc, char*** argv) {                                                      \
    static constinit call next(#prefix "Init");                                                    \
    return begin(next(argc, argv));                                                                \
  }                                                                                                \
  int prefix##Init_thread(int* argc, char*** argv, int required, int* provided) {                  \
    static constinit call next(#prefix "Init_thread");                                             \
    return begin(next(argc, argv, required, provided));                                            \
  }                                                                                                \
  int prefix##Finalize() {                                                                         \
    static constinit call next(#prefix "Finalize");                                                \
    all_communicators().end();                                                                     \
    return next();                                                                                 \
  }                                                                                                \
  int prefix##Barrier(handle comm) {                                                               \
    static constinit call next(#prefix "Barrier");                                                 \
    flag_communicator* const flags = all_communicators().find(comm);                               \
    return flags ? flags->barrier() : next(comm);                                                  \
  }                                                                                                \
  int prefix##Bcast(void* b, int n, handle type, int root, handle comm) {                          \
    static constinit call next(#prefix "Bcast");                                                   \
    int result = success;                                                                          \
    return broadcast(b, n, type, root, comm, result) ? result : next(b, n, type, root, comm);      \
  }                                                                                                \
  int prefix##Reduce(const void* b, void* to, int n, handle type, handle by, int root,             \
                     handle comm) {                                                                \
    static constinit call next(#prefix "Reduce");                                                  \
    int result = success;                                                                          \
    return reduce(b, to, n, type, by, root, comm, result) ? result                                 \
                                                          : next(b, to, n, type, by, root, comm);  \
  }                                                                                                \
  int prefix##Allreduce(const void* b, void* to, int n, handle type, handle by, handle comm) {     \
    static constinit call next(#prefix "Allreduce");                                               \
    int result = success;                                                                          \
    return all_reduce(b, to, n, type, by, comm, result) ? result : next(b, to, n, type, by, comm); \
  }

extern "C" {
WEFT_CALLS(MPI_)
WEFT_CALLS(PMPI_)
}
