// SPDX-License-Identifier: Apache-2.0
// The job that this process was started in: ranks, and where each of them can be found.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "wireup/identity.hpp"
#include "wireup/job_key.hpp"

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

  /// Whether a launcher started it; else the process came alone.
  virtual bool launched() const noexcept { return true; }

  /// The key that the launcher gave the job; empty: it gave none.
  virtual job_key key() const { return {}; }

  /// Tells the others where this process listens.
  virtual void publish(const std::string& locator) = 0;

  /// Finds out where a rank listens; waits until it has published. An empty locator: it is gone.
  virtual void find(peer_id rank, std::function<void(std::string locator)> found) = 0;

  /// The same when nobody is any more where the rank was found: waits for its next program, if the
  /// launcher knows of such. An empty locator: none will come.
  /// \param gone where it was
  virtual void find_next(peer_id, const std::string& gone,
                         std::function<void(std::string locator)> found) {
    static_cast<void>(gone);
    found({});
  }

  /// Called for each rank that ended, also for those that ended before this call. `died`: it
  /// crashed or was killed; else it left in good order.
  virtual void on_end(std::function<void(peer_id rank, bool died)> ended) = 0;
};

/// The job that a launcher started this process in: `weft-run` (WEFT_JOB), else one that speaks
/// PMIx (PMIX_NAMESPACE); null: none did. \param key the user's choice; a job of PMIx takes rank
/// 0's, or makes one \throws weft::error (invalid_argument) when the variables contradict each
/// other or the rank has a context already, (unreachable) when the launcher does not answer,
/// (unsupported) when libpmix cannot be loaded, or when srun started several processes without PMIx
std::unique_ptr<job> launched_job(const job_key& key = {});

/// A job of one, for a process that no launcher started. Others may join it.
/// \param key whose holders may connect over TCP; empty: the user's choice, if any
std::unique_ptr<job> lone_job(job_key key = {});

class coordinator_connection;
/// The job of a process that joined. \param line rank 0 has given this process its rank there
std::unique_ptr<job> joined_job(std::shared_ptr<coordinator_connection> line);

/// Of weft-run, found through WEFT_RANK, WEFT_SIZE and WEFT_JOB.
std::unique_ptr<job> weft_run_job();

/// Of a PMIx launcher. Asks it for what it knows, and waits for rank 0 to say what the job's id and
/// key are. Null also when weft was built without PMIx.
std::unique_ptr<job> pmix_job(const job_key& key);

/// For a process that no launcher gave a rank: Slurm's srun may have started several of them.
/// \throws weft::error (unsupported) when it did
void refuse_srun_without_pmix();

}  // namespace weft::wireup
