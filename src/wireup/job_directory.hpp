// SPDX-License-Identifier: Apache-2.0
// The launcher's side of a job: where each rank listens, and which have ended.
#pragma once

#include <memory>
#include <string>

#include "wireup/identity.hpp"

namespace weft::wireup {

/// Serves a job's directory on a thread of its own, to processes of the same user that know the
/// job's id. What clients say is checked; a client that misbehaves or dies is dropped, which
/// concerns nobody else. A rank is one context at a time: a second one is refused while the first
/// one lives, and takes its place when it has gone. Owned by the launcher.
class job_directory {
 public:
  /// Starts to serve. \throws weft::error (system)
  explicit job_directory(peer_id size);
  ~job_directory();

  /// The value of WEFT_JOB: where the directory listens, and the job's id.
  const std::string& environment() const noexcept { return environment_; }

  /// Tells all ranks that one ended, and answers those who look for it. Any thread.
  void ended(peer_id rank, bool died);

 private:
  class server;
  std::unique_ptr<server> server_;
  std::string environment_;
};

/// Takes a value of WEFT_JOB apart. False if it is none.
bool parse_job_environment(const std::string& text, std::string& locator, context_id& job);

}  // namespace weft::wireup
