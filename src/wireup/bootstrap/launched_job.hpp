// SPDX-License-Identifier: Apache-2.0
// The job that this process was started in, by any of the starters.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <weft/tcp_encryption.hpp>

#include "runtime/os/log.hpp"
#include "wireup/auth/job_key.hpp"
#include "wireup/bootstrap/starter.hpp"
#include "wireup/job/job.hpp"
#include "wireup/tcp/tcp_settings.hpp"

namespace weft::wireup {

struct launch_terms {
  /// The user's choice; a job of PMIx takes rank 0's key, or makes one. Ranks that meet at rank 0
  /// need one.
  job_key key = {};
  /// How long the ranks that meet at rank 0 wait for each other.
  std::chrono::seconds start_timeout{300};
  std::chrono::seconds peer_timeout{10};           ///< as tcp_settings'
  tcp_encryption tls = tcp_encryption::automatic;  ///< of the connections to rank 0
  /// As options::socket_dir: processes that can share memory have the folder in common, or the
  /// network namespace.
  std::string socket_dir = {};
  /// Told who is waited for, and of what happens to a launcher later.
  runtime::log_ptr reports = runtime::log_on_standard_error();

  /// To rank 0's context, for a process that takes the place of a lost rank.
  tcp_settings way() const;
};

/// The job of the first starter that is there, in the order of `starter`; null: there is none, or
/// one that started a single process. Blocks until the process is a rank of the job. \throws
/// weft::error (invalid_argument) when variables contradict each other, there is no key, or the
/// rank has a context already; (unreachable) when the starter's directory or rank 0 cannot be
/// reached, or other ranks did not come; (unsupported) when libpmix cannot be loaded; (system)
std::unique_ptr<job> launched_job(const launch_terms& terms = {});

/// The job of ranks that meet at rank 0. \throws as launched_job
std::unique_ptr<job> met_job(const given_rank& given, const launch_terms& terms);

}  // namespace weft::wireup
