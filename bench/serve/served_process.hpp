// SPDX-License-Identifier: Apache-2.0
// A process of this program that is a side for a client of the server.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "runtime/descriptors/fd.hpp"

namespace weft::bench {

/// Ends with this object, and with this process. On the thread that made it.
class served_process {
 public:
  /// Starts this program with these words. \throws std::system_error
  explicit served_process(const std::vector<std::string>& words);
  served_process(const served_process&) = delete;
  served_process& operator=(const served_process&) = delete;
  ~served_process();

  /// A socket with a packet for each note of it; ends with the process.
  int line() const noexcept { return line_.get(); }

  /// Waits for its end, which has begun. \return how it ended, for the client; empty: well
  const std::string& end();

 private:
  unique_fd line_;
  pid_t pid_ = -1;  // -1: it has ended
  std::string how_;
};

}  // namespace weft::bench
