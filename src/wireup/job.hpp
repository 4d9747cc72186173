// SPDX-License-Identifier: Apache-2.0
// The job that this process was started in: ranks, and where each of them can be found.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "wireup/identity.hpp"

namespace weft::wireup {

/// A job's directory. Functions may be called from any thread; callbacks come on a thread of the
/// implementation, one at a time.
class job {
 public:
  virtual ~job() = default;

  virtual context_id id() const noexcept = 0;
  virtual peer_id rank() const noexcept = 0;
  virtual peer_id size() const noexcept = 0;
  /// How many of the job's processes run on this host: what decides whether waiting may spin.
  virtual peer_id local_size() const noexcept = 0;

  /// Tells the others where this process listens.
  virtual void publish(const std::string& locator) = 0;

  /// Finds out where a rank listens; waits until it has published. An empty locator: it is gone.
  virtual void find(peer_id rank, std::function<void(std::string locator)> found) = 0;

  /// Called for each rank that ended, also for those that ended before this call. `died`: it
  /// crashed or was killed; else it left in good order.
  virtual void on_end(std::function<void(peer_id rank, bool died)> ended) = 0;
};

/// The job of `weft-run`, found through WEFT_RANK, WEFT_SIZE and WEFT_JOB; null when the process
/// was not started by it. \throws weft::error (invalid_argument) when the variables contradict each
/// other, (unreachable) when the launcher does not answer.
std::unique_ptr<job> launched_job();

}  // namespace weft::wireup
