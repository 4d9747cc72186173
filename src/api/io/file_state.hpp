// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <weft/detail/file_job.hpp>

namespace weft::detail {

/// An open file, or one that is to be opened. Owned by the weft::file; outlives its operations.
struct file_state {
  file_service& calls;
  std::string path;
  int flags = 0;
  unsigned mode = 0;
  int fd = -1;
  bool has_offsets = true;  ///< false: a ring would read a pipe, and wait, where pread fails
};

/// The failure of a call on a file, with its cure. \param code the errno
std::string explain_failure(const std::string& what, int code);

/// The cure for a failed call on a file, if there is a likely one; otherwise empty.
const char* file_hint(int code) noexcept;

}  // namespace weft::detail
