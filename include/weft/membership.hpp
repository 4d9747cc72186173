// SPDX-License-Identifier: Apache-2.0
// membership: a job that processes join and leave while it runs. join: joins such a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/context.hpp>

namespace weft {

/// The members of a job at one moment. Processes with the same `epoch` see the same ranks.
struct membership_view {
  std::uint64_t epoch = 0;     ///< the number of changes since the job was started
  std::vector<peer_id> ranks;  ///< of the members, in ascending order
  /// Who has the place of each rank that was there at the start: that rank itself; when it was
  /// lost, `no_peer`, until a process that was started again takes the place, under a rank of its
  /// own (membership::returned). If it left, the place still names it, and stays as it is.
  std::vector<peer_id> places;

  bool contains(peer_id rank) const noexcept;
};

/// The members of a context's job, and their changes. A handle; must not outlive its context.
///
/// Rank 0 is the coordinator: it gives every process that joins the next rank, never the same rank
/// twice, and sends each change to all members, in one order. `context::peer(rank)` names any
/// member, on any host and over any transport. `context::world()` stays the group of the processes
/// that were started together; a process that joined later is not in the group, and sees the
/// group's size. After the end of rank 0 the job goes on, but no process can join and no change is
/// reported; `group::shrink` works on.
///
/// A process that is started again with the number of a rank that was lost (by weft-run --restart,
/// or by what started the job; docs/hosts.md) takes its place: its context has a new rank, which no
/// message of the old process can be taken for, and `context::world()` has the old one.
/// `group::replace` makes the group that it is in. Not in jobs that mpirun or srun --mpi=pmix
/// started, and not after the end of rank 0.
///
/// Functions may be called from any thread.
class membership {
 public:
  explicit membership(context& of) noexcept : context_(&of) {}

  /// This process's rank. A process that neither was launched nor joined has rank 0 of 1.
  peer_id rank() const noexcept;

  /// Whether this process has taken the place of a rank that was lost: its program begins with its
  /// last checkpoint, and `context::world().replace()`.
  bool returned() const noexcept;

  /// Lets processes join through rank 0 until its context ends. Only rank 0 may call it.
  /// \param address as for context::listen: "unix://name" for this host, or, with a job key
  ///        (options::job_key), "tcp://host:port" also for other hosts
  /// \return the address to give to `join`, with the port that the system chose for port 0
  /// \throws weft::error  unsupported on another rank, invalid_argument, system (address taken)
  std::string open(std::string address);

  /// The members that this process knows. The first call of a launched rank asks rank 0 for
  /// updates; until the answer comes the view is that of the start.
  membership_view now() const;

  /// Ends when there is a view with a greater epoch, at once if there is one already.
  /// \param since the `epoch` of the view that the caller knows
  /// \throws weft::error  peer_lost or closed: rank 0, the coordinator, is gone; stopped
  task<membership_view> changed(std::uint64_t since) const;

  /// Leaves the job: ends when rank 0 has told all members. Endpoints work until the context ends,
  /// so that operations in flight can finish; when it ends, operations of other members with it end
  /// with errc::closed. A context that ends without this call leaves the job, too.
  /// \throws weft::error  unsupported on rank 0, peer_lost
  task<void> leave();

 private:
  context* context_;
};

/// Joins a running job and returns a context of it, with a new rank. Blocks until rank 0 has told
/// the members, or has not answered for `options::peer_timeout`. Not inside a coroutine.
/// \param address what membership::open returned on rank 0
/// \param chosen  as for a context; `job_key` must be the job's when the address is "tcp://"
/// \throws weft::error  refused (no listener there, or another key), unreachable (or no answer),
///         peer_lost or closed (rank 0 ended meanwhile), invalid_argument
context join(const std::string& address, options chosen = options::from_environment());

}  // namespace weft
