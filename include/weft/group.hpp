// SPDX-License-Identifier: Apache-2.0
// group: the processes of a job, by rank.
#pragma once

#include <optional>

#include <weft/context.hpp>

namespace weft {

/// The job's processes, numbered from 0. A handle; must not outlive its context.
class group {
 public:
  explicit group(context& owner) noexcept : owner_(&owner) {}

  peer_id rank() const noexcept;  ///< this process
  peer_id size() const noexcept;  ///< how many there are

  /// The process of that rank; this process itself is a peer like any other.
  /// \throws weft::error (invalid_argument) if rank >= size()
  endpoint operator[](peer_id rank) const;

  /// Receives from any source, as `context::recv`. Does not end when
  /// processes die; `endpoint::closed` tells that.
  detail::recv_request recv_any(mutable_buffer into, tag_mask t) const {
    return owner_->recv(into, t);
  }

  /// Ends when every process of the job has come here. Messages that have not been received yet do
  /// not stand in its way, however many they are. Not to be stopped (`within`, a stop token): how
  /// far it had come is not remembered, so the others may wait for ever, or go on without this one.
  /// \throws weft::error  peer_lost when one of them died; closed when one has closed, or this side
  ///         has; unsupported in a process that joined later
  task<void> barrier() const;

  // For bindings without coroutines, which do the same as `barrier`.

  /// What this process does in step `k`, `tell` and then `hear`; nothing: the one before was the
  /// last.
  /// \param failed ok; or why the barrier fails, which is told in all steps that are left, and
  ///   nothing is heard there
  /// \throws weft::error (unsupported)
  struct barrier_step;
  std::optional<barrier_step> step_of_barrier(unsigned k, errc failed = errc::ok) const;
  /// What was heard. \throws weft::error with which the barrier fails elsewhere
  static void check_heard(const received& what);

 private:
  context* owner_;
};

struct group::barrier_step {
  detail::send_request tell;
  detail::recv_request hear;
};

}  // namespace weft
