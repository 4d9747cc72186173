// SPDX-License-Identifier: Apache-2.0
// mpirun as a child whose stderr is read along: that is how it is known whether the job ran on
// weft.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::mpirun {

/// Finds a text in a stream that comes in pieces.
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
  bool announced = false;  ///< a rank said that it runs on weft
};

/// What rank 0 says with WEFT_OFI_ANNOUNCE=1.
constexpr const char* announcement = "weft: MPI runs on weft";

/// Runs the command to its end. Its stderr is passed on as it comes; signals that somebody sends to
/// us are passed on to it, those of a terminal reach it anyway; it dies with us.
/// \throws std::system_error if there is no process to be had
outcome watch(const std::vector<std::string>& command);

/// Becomes the command. \returns only if that fails, with what a shell would: 126 or 127
int become(const std::vector<std::string>& command);

}  // namespace weft::mpirun
