// SPDX-License-Identifier: Apache-2.0
// Runs mpirun as a child and reads its stderr, to learn whether the job ran on weft.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/descriptors/inherited_state.hpp"

namespace weft::mpirun {

/// Finds a text in a stream that arrives in pieces.
class finder {
 public:
  explicit finder(std::string text) : text_(std::move(text)) {}
  void look_at(std::string_view piece);
  bool found() const noexcept { return found_; }

 private:
  std::string text_;
  std::string end_;  // of the pieces so far, one byte shorter than the text
  bool found_ = false;
};

struct outcome {
  int status = 0;          ///< mpirun's, or 128 + the signal that killed it
  bool announced = false;  ///< a rank reported that it runs on weft
};

/// The text of rank 0 with WEFT_OFI_ANNOUNCE=1.
constexpr const char* announcement = "weft: MPI runs on weft";

/// Runs the command to its end. Passes its stderr on at once, and passes signals to this process on
/// to the command; signals of a terminal reach the command anyway. The command dies with this
/// process.
/// \param before what the command is given back
/// \throws std::system_error if no process can be made
outcome watch(const std::vector<std::string>& command, const runtime::inherited_state& before);

/// Executes the command in this process. \returns only if that fails, the status of a shell: 126 or
/// 127
int become(const std::vector<std::string>& command, const runtime::inherited_state& before);

}  // namespace weft::mpirun
