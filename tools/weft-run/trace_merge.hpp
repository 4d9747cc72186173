// SPDX-License-Identifier: Apache-2.0
// weft-run --trace: one file out of the traces of all ranks.
#pragma once

#include <cstdint>
#include <string>

namespace weft::run {

/// The ranks write traces of their own beside the file (all.json: all.0.json, all.0.lane1.json,
/// ...) when their contexts end. Their clock is that of this machine, so that their events need no
/// shift.
class trace_merge {
 public:
  /// Removes what a former job has left, and checks that the file can be written, while the user
  /// can still correct it. \param file empty: does nothing
  /// \throws std::system_error that names it
  trace_merge(const std::string& file, std::uint32_t ranks);

  /// The value of WEFT_TRACE for the ranks, which may have other working directories.
  const std::string& path() const noexcept { return file_; }

  /// After the job: writes the file, with each process named by its rank, and removes the parts.
  /// \return lines for people: ranks without a trace, and what cannot be written; empty: all is
  /// well
  std::string merge();

 private:
  std::string file_;  // absolute
  std::uint32_t ranks_;
};

}  // namespace weft::run
