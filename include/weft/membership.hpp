// SPDX-License-Identifier: Apache-2.0
// membership: a job that processes join and leave while it runs. join: how one comes in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/context.hpp>

namespace weft {

/// Who belongs to a job at one moment. Members that have the same `epoch` see the same ranks.
struct membership_view {
  std::uint64_t epoch = 0;     ///< how many changes there have been since the job was started
  std::vector<peer_id> ranks;  ///< those who belong to it, in ascending order

  bool contains(peer_id rank) const noexcept;
};

/// The members of a context's job, and their changes. A handle; must not outlive its context.
///
/// Rank 0 keeps the book: it gives every process that joins the next rank, never the same twice,
/// and tells all members of each change, in one order. `context::peer(rank)` names a member,
/// whichever process it is, wherever it runs and whichever transport reaches it. `context::world()`
/// stays the group of those that were started together; a process that joined is not in it, and
/// sees its size. When rank 0 has gone the job goes on, but no process joins any more and no change
/// is told.
///
/// Functions may be called from any thread.
class membership {
 public:
  explicit membership(context& of) noexcept : context_(&of) {}

  /// This process's rank. A process that was not launched and that did not join has rank 0, of one.
  peer_id rank() const noexcept;

  /// Lets processes join through rank 0, which is the one to call it, until its context ends.
  /// \param address as for context::listen: "unix://name" for this host, or, with a job key
  ///        (options::job_key), "tcp://host:port" for others, too
  /// \return the address to give to `join`, with the port that the system chose for port 0
  /// \throws weft::error  unsupported on another rank, invalid_argument, system (address taken)
  std::string open(std::string address);

  /// The members as far as this process has been told. A launched rank asks rank 0 to tell from the
  /// first call on; until its answer comes the view is that of the start.
  membership_view now() const;

  /// Ends when there is a view with a greater epoch, at once if there is one already.
  /// \param since the `epoch` of the view that the caller knows
  /// \throws weft::error  peer_lost or closed: rank 0, which keeps the book, is gone; stopped
  task<membership_view> changed(std::uint64_t since) const;

  /// Leaves the job: ends when rank 0 has told everybody. Endpoints go on working until the context
  /// ends, so that what is under way can be finished; others end their operations with
  /// errc::closed when it does. A context that ends without it leaves, too.
  /// \throws weft::error  unsupported on rank 0, peer_lost
  task<void> leave();

 private:
  context* context_;
};

/// Joins a running job and returns a context that belongs to it, with a rank of its own. Blocks
/// until rank 0 has told the members, or has not answered for `options::peer_timeout`. Not inside a
/// coroutine.
/// \param address what membership::open returned on rank 0
/// \param chosen  as for a context; `job_key` must be the job's when the address is "tcp://"
/// \throws weft::error  refused (no listener there, or another key), unreachable (no answer, too),
///         peer_lost or closed (rank 0 ended meanwhile), invalid_argument
context join(const std::string& address, options chosen = options::from_environment());

}  // namespace weft
