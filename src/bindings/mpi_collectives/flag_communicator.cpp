// SPDX-License-Identifier: Apache-2.0
#include "bindings/mpi_collectives/flag_communicator.hpp"

#include <sched.h>
#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <exception>

#include "bindings/mpi/ranks_here.hpp"
#include "collectives/flags/flag_call.hpp"
#include "collectives/flags/steps.hpp"
#include "runtime/os/pause.hpp"

namespace weft::mpi_collectives {

namespace {

using open_mpi::named;
using open_mpi::success;

/// MPI_ERR_OTHER of Open MPI.
constexpr int other_error = 16;

/// Ranks that wait for this one may need what MPI does in its calls.
int give_mpi_progress() noexcept {
  static constinit open_mpi::call probe("PMPI_Iprobe");
  static constinit named self("ompi_mpi_comm_self", named::what::object);
  constexpr int any = -1;  // source, and tag
  int found = 0;
  return probe(any, any, self.address(), &found, static_cast<void*>(nullptr));
}

/// Bytes of all ranks from which on each rank reduces its part for all: below, the second round
/// costs more.
constexpr std::size_t bytes_worth_parts = 4096;

/// Some 10 ms.
constexpr unsigned turns_between_watches = 4096;

/// A call by flags ends with it.
struct disagreement {};

}  // namespace

flag_communicator::flag_communicator(const unique_fd& memory, handle comm, peer_id rank,
                                     peer_id size)
    : comm_(comm),
      segment_(memory, collectives::flag_rounds::layout_of(size), rank, nullptr),
      rounds_(rank, size),
      crowded_(mpi::are_crowded(mpi::ranks_here())) {
  rounds_.use(segment_);
}

const char* flag_communicator::name_of(std::uint64_t what) noexcept {
  constexpr const char* names[] = {"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce"};
  return what < std::size(names) ? names[what] : "another call";
}

bool flag_communicator::is_worth_parts(std::size_t bytes) const noexcept {
  return size() > 2 && bytes * size() > bytes_worth_parts;
}

int flag_communicator::barrier() noexcept {
  return run(call::barrier, 0, {}, collectives::barrier_by_flags);
}

int flag_communicator::broadcast(mutable_buffer data, peer_id root) noexcept {
  return run(call::broadcast, data.size(), {.out = data, .root = root},
             collectives::broadcast_by_flags);
}

int flag_communicator::reduce(const_buffer mine, mutable_buffer result, peer_id root,
                              const detail::reduction& how) noexcept {
  return run(
      call::reduce, mine.size(), {.in = mine, .out = result, .root = root, .how = how},
      is_worth_parts(mine.size()) ? collectives::reduce_in_parts : collectives::reduce_by_flags);
}

int flag_communicator::all_reduce(const_buffer mine, mutable_buffer result,
                                  const detail::reduction& how) noexcept {
  return run(call::all_reduce, mine.size(), {.in = mine, .out = result, .how = how},
             is_worth_parts(mine.size()) ? collectives::all_reduce_in_parts
                                         : collectives::all_reduce_by_flags);
}

int flag_communicator::run(call what, std::size_t bytes, const collectives::arguments& with,
                           const collectives::flag_steps& steps) noexcept {
  const collectives::flag_call::words own{
      static_cast<std::uint64_t>(what) << 32 | with.root,
      std::uint64_t{with.how.name} << 48 | (bytes & ((std::uint64_t{1} << 48) - 1))};
  collectives::flag_call made(rounds_, own, bytes, with, steps);
  try {
    const auto disagree = [&](peer_id other, const collectives::flag_call::words& theirs) {
      constexpr std::uint64_t low = 0xffff'ffff;
      std::fprintf(stderr,
                   "weft: ranks of a communicator make different calls: rank %u %s of %zu bytes, "
                   "root %u; rank %u %s of %llu bytes, root %u\n",
                   rank(), name_of(own.first >> 32), bytes, with.root, other,
                   name_of(theirs.first >> 32),
                   static_cast<unsigned long long>(theirs.second << 16 >> 16),
                   static_cast<unsigned>(theirs.first & low));
      throw disagreement();
    };
    while (const auto lacking = made.next(disagree))
      if (const int wrong = wait(*lacking); wrong != success) return wrong;
    return success;
  } catch (...) {
    return fail();
  }
}

int flag_communicator::fail() const noexcept {
  static constinit open_mpi::call handle_error("PMPI_Comm_call_errhandler");
  handle_error(comm_, other_error);
  return other_error;
}

bool flag_communicator::has_lost_a_rank() const noexcept {
  for (std::size_t r = 0; r != processes_.size(); ++r)
    if (::kill(processes_[r], 0) != 0 && errno == ESRCH) {
      std::fprintf(stderr, "weft: rank %zu of a communicator, process %d, has ended\n", r,
                   static_cast<int>(processes_[r]));
      return true;
    }
  return false;
}

/// Polls, as MPI's own collectives do.
int flag_communicator::wait(const collectives::flag_rounds::awaited& what) noexcept {
  const int looks = crowded_ ? 20 : 200;
  if (rounds_.have(what)) return success;
  rounds_.publish();
  for (unsigned turn = 1;; ++turn) {
    for (int look = 0; look != looks; ++look) {
      if (rounds_.have(what)) return success;
      runtime::cpu_pause();
    }
    if (crowded_) ::sched_yield();
    if (rounds_.have(what)) return success;
    if (const int wrong = give_mpi_progress(); wrong != success) return wrong;
    if (turn % turns_between_watches == 0 && has_lost_a_rank() && !rounds_.have(what))
      return fail();
  }
}

}  // namespace weft::mpi_collectives
