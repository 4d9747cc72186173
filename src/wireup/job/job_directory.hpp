// SPDX-License-Identifier: Apache-2.0
// The launcher's side of a job: where each rank listens, and which ranks have ended.
#pragma once

#include <memory>
#include <string>

#include "runtime/os/log.hpp"
#include "wireup/base/identity.hpp"

namespace weft::wireup {

/// Serves a job's directory on its own thread, to processes of the same user that know the job's
/// id. What clients send is checked; a client that misbehaves or dies is dropped, without effect on
/// the others. A rank has one context at a time: a second one is refused while the first one lives,
/// and accepted when the first one is gone. Owned by the launcher.
class job_directory {
 public:
  /// Starts to serve. \param reports told of clients that are turned away
  /// \throws weft::error (system)
  explicit job_directory(peer_id size,
                         runtime::log_ptr reports = runtime::log_on_standard_error("weft-run"));
  ~job_directory();

  /// The value of WEFT_JOB: where the directory listens, and the job's id.
  const std::string& environment() const noexcept { return environment_; }

  /// Tells all ranks that one ended, and answers the clients that wait for it. Any thread.
  void ended(peer_id rank, bool died);

 private:
  class server;
  std::unique_ptr<server> server_;
  std::string environment_;
};

/// Parses a value of WEFT_JOB. False if the text is no such value.
bool parse_job_environment(const std::string& text, std::string& locator, context_id& job);

}  // namespace weft::wireup
