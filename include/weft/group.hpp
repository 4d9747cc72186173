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
  peer_id size() const noexcept;  ///< the number of processes

  /// The process of that rank; this process's own rank is allowed.
  /// \throws weft::error (invalid_argument) if rank >= size()
  endpoint operator[](peer_id rank) const;

  /// Receives from any source, as `context::recv`. Does not end when processes die;
  /// `endpoint::closed` reports that.
  detail::recv_request recv_any(mutable_buffer into, tag_mask t) const {
    return owner_->recv(into, t);
  }

  /// Ends when every process of the job has called barrier. Messages that are not received yet do
  /// not block it, however many there are. Do not stop it (`within`, a stop token): its progress is
  /// not kept, so other processes may wait for ever, or continue without this one.
  /// \throws weft::error  peer_lost when a process died; closed when a process, or this one, has
  ///        closed; unsupported in a process that joined later
  task<void> barrier() const;

  // The steps of `barrier`, for bindings without coroutines.

  /// The requests of this process in step `k`: first `tell`, then `hear`; nothing: the barrier has
  /// no step `k`.
  /// \param failed ok, or the reason why the barrier fails. The reason is sent in all steps that
  ///        are left, without `hear`
  /// \throws weft::error (unsupported)
  struct barrier_step;
  std::optional<barrier_step> step_of_barrier(unsigned k, errc failed = errc::ok) const;
  /// Checks the message of `hear`. \throws weft::error the failure of the barrier in another
  /// process
  static void check_heard(const received& what);

 private:
  context* owner_;
};

struct group::barrier_step {
  detail::send_request tell;
  detail::recv_request hear;
};

}  // namespace weft
