// SPDX-License-Identifier: Apache-2.0
// The job that this process was started in: its ranks, and where each of them listens.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/os/log.hpp"
#include "wireup/auth/job_key.hpp"
#include "wireup/base/identity.hpp"
#include "wireup/job/job_wire.hpp"

namespace weft::wireup {

class coordinator_connection;
struct tcp_settings;

/// A job's directory. Any thread may call the functions. Callbacks are called on a thread of the
/// implementation, one at a time.
class job {
 public:
  virtual ~job() = default;

  virtual context_id id() const noexcept = 0;
  virtual peer_id rank() const noexcept = 0;
  /// The rank in the world: its own, or that of the lost rank whose place this process takes.
  virtual peer_id place() const noexcept { return rank(); }
  virtual peer_id size() const noexcept = 0;
  /// How many of the job's processes run on this host. Decides whether waiting threads may spin.
  virtual peer_id local_size() const noexcept = 0;
  /// How many run on each host, if all hosts have as many and those of a host have ranks next to
  /// each other; 0: not so, or not known. All members of the job get the same answer.
  virtual peer_id per_host() const noexcept { return local_size() == size() ? size() : 0; }

  /// Whether a launcher started the process.
  virtual bool launched() const noexcept { return true; }

  /// The connection over which rank 0 let this process in after the start; null: it was there.
  virtual std::shared_ptr<coordinator_connection> line() const { return nullptr; }

  /// The key that the launcher gave the job; empty: none.
  virtual job_key key() const { return {}; }

  /// Tells the other ranks where this process listens.
  virtual void publish(const std::string& locator) = 0;

  /// Finds out where a rank listens; waits until it has published. An empty locator: it is gone.
  virtual void find(peer_id rank, std::function<void(std::string locator)> found) = 0;

  /// The same when no process listens any more where the rank was found: waits for the rank's next
  /// program, if the launcher knows of one. An empty locator: none will come.
  /// \param gone the locator where it was
  virtual void find_next(peer_id, const std::string& gone,
                         std::function<void(std::string locator)> found) {
    static_cast<void>(gone);
    found({});
  }

  /// Calls `ended` for each rank that ended, also for those that ended before this call. `died`:
  /// the rank crashed or was killed; else it left in good order.
  virtual void on_end(std::function<void(peer_id rank, bool died)> ended) = 0;
};

/// A job of one, for a process that no launcher started. Others may join it.
/// \param key the holders of this key may connect over TCP; empty: the user's choice, if any
std::unique_ptr<job> lone_job(job_key key = {});

/// The job of a process that joined. \param line the connection over which rank 0 gave this process
/// its rank
std::unique_ptr<job> joined_job(std::shared_ptr<coordinator_connection> line);

/// The job of a process that was started with the number of a rank that was lost. Blocks until
/// rank 0 has let it in. \param way how rank 0 is reached, with the job's key
/// \throws weft::error (refused, unreachable)
std::unique_ptr<job> returned_job(const vacant_place& where, tcp_settings way,
                                  runtime::log_ptr reports);

/// The job of weft-run, found through WEFT_RANK, WEFT_SIZE and WEFT_JOB; null: WEFT_JOB is not set.
/// \param way how rank 0 is reached by a process that takes a lost rank's place
/// \param reports told of what happens to the launcher later
/// \throws weft::error (invalid_argument) when the variables contradict each other or the rank has
/// a context already, (unreachable) when weft-run does not answer, as returned_job
std::unique_ptr<job> weft_run_job(tcp_settings way, runtime::log_ptr reports);

/// The job of a PMIx launcher. Asks the launcher for what it knows, and waits for rank 0 to publish
/// the job's id and key. Null also when weft was built without PMIx.
/// \throws weft::error (unreachable) when the launcher does not answer, (unsupported) when libpmix
/// cannot be loaded
std::unique_ptr<job> pmix_job(const job_key& key, runtime::log_ptr reports);

}  // namespace weft::wireup
