// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator get one flag segment: rank 0 makes it, and the others open it by
// way of /proc.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/mpi_collectives/communicators.hpp"
#include "collectives/select.hpp"

namespace weft::mpi_collectives {

namespace {

using open_mpi::call;
using open_mpi::named;
using open_mpi::success;

handle object(const char* name) noexcept { return named(name, named::what::object).address(); }

/// Where rank 0 has the segment. On another host the same path is something else: what the segment
/// begins with is a random number.
struct place {
  std::array<std::byte, 16> mark{};
  std::int64_t process = 0;
  std::int32_t descriptor = -1;  ///< -1: it could not be made
};

/// WEFT_TRANSPORTS without shared memory, as in a test of a network, is meant for collectives, too.
bool may_share_memory() noexcept {
  const char* const asked = std::getenv("WEFT_TRANSPORTS");
  return !asked || std::string_view(asked).find("shm") != std::string_view::npos;
}

/// The number of ranks; 0: it has no flags, for a reason that all ranks see alike.
peer_id ranks_of(handle comm) noexcept {
  static constinit call is_inter("PMPI_Comm_test_inter");
  static constinit call get_size("PMPI_Comm_size");
  int inter = 0, size = 0;
  if (is_inter(comm, &inter) != success || inter || get_size(comm, &size) != success) return 0;
  const auto n = static_cast<peer_id>(size);
  return n < 2 || n > collectives::group_shape::most_with_flags ? 0 : n;
}

/// Whether all ranks were started together: those of another job may not have this library.
bool is_of_one_job(handle comm, peer_id size) {
  static constinit call get_group("PMPI_Comm_group");
  static constinit call free_group("PMPI_Group_free");
  static constinit call translate("PMPI_Group_translate_ranks");
  constexpr int undefined = -32766;
  handle its = nullptr, world = nullptr;
  if (get_group(comm, &its) != success) return false;
  std::vector<int> ranks(size), there(size, undefined);
  for (peer_id r = 0; r != size; ++r) ranks[r] = static_cast<int>(r);
  if (get_group(object("ompi_mpi_comm_world"), &world) == success) {
    translate(its, static_cast<int>(size), ranks.data(), world, there.data());
    free_group(&world);
  }
  free_group(&its);
  return std::find(there.begin(), there.end(), undefined) == there.end();
}

std::unique_ptr<flag_communicator> make(unique_fd& memory, handle comm, peer_id size, place& at) {
  if (::getrandom(at.mark.data(), at.mark.size(), 0) != static_cast<ssize_t>(at.mark.size()))
    return nullptr;
  memory = runtime::flag_segment::make(collectives::flag_rounds::layout_of(size));
  auto made = std::make_unique<flag_communicator>(memory, comm, 0, size);
  std::memcpy(made->memory().data(), at.mark.data(), at.mark.size());
  at.process = ::getpid();
  at.descriptor = memory.get();
  return made;
}

std::unique_ptr<flag_communicator> join(handle comm, peer_id rank, peer_id size, const place& at) {
  if (at.descriptor < 0) return nullptr;
  const std::string path = fmt::format("/proc/{}/fd/{}", at.process, at.descriptor);
  const unique_fd memory(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!memory) return nullptr;
  auto made = std::make_unique<flag_communicator>(memory, comm, rank, size);
  if (std::memcmp(made->memory().data(), at.mark.data(), at.mark.size()) != 0) return nullptr;
  return made;
}

/// \return false: MPI fails
bool know_processes(handle comm, flag_communicator& of) noexcept {
  static constinit call all_gather("PMPI_Allgather");
  const pid_t self = ::getpid();
  std::vector<pid_t> all(of.size());
  const auto bytes = static_cast<int>(sizeof self);
  const auto type = object("ompi_mpi_byte");
  if (all_gather(&self, bytes, type, all.data(), bytes, type, comm) != success) return false;
  of.watch(std::move(all));
  return true;
}

}  // namespace

std::unique_ptr<flag_communicator> agree_on_flags(handle comm) noexcept {
  static constinit call get_rank("PMPI_Comm_rank");
  static constinit call broadcast("PMPI_Bcast");
  static constinit call all_reduce("PMPI_Allreduce");
  std::unique_ptr<flag_communicator> made;
  int rank = -1;
  unique_fd memory;  // of rank 0, until all have opened it
  place at;
  const peer_id size = ranks_of(comm);
  try {
    if (size == 0 || !is_of_one_job(comm, size)) return nullptr;
    if (get_rank(comm, &rank) == success && rank == 0 && may_share_memory())
      made = make(memory, comm, size, at);
  } catch (const std::exception&) {
    at.descriptor = -1;
  }
  if (broadcast(&at, static_cast<int>(sizeof at), object("ompi_mpi_byte"), 0, comm) != success)
    return nullptr;
  try {
    if (rank > 0 && may_share_memory()) made = join(comm, static_cast<peer_id>(rank), size, at);
  } catch (const std::exception&) {
    made = nullptr;
  }
  const int mine = made ? 1 : 0;
  int all = 0;
  if (all_reduce(&mine, &all, 1, object("ompi_mpi_int"), object("ompi_mpi_op_min"), comm) !=
      success)
    all = 0;
  return all && know_processes(comm, *made) ? std::move(made) : nullptr;
}

}  // namespace weft::mpi_collectives
