// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft::bench {

/// A program, its arguments, and the changes to this process's environment.
struct command {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  /// Makes the program say on its standard error what it waits for (docs/debugging.md); 0: nothing
  /// does. It comes two seconds before the end of a program that has reached its limit.
  int dump_signal = 0;

  /// The command as text, for messages.
  std::string text() const;
};

/// How a command ended. Output is complete even when it failed.
struct command_result {
  int status = 0;  ///< exit code, or 128 + the signal
  bool timed_out = false;
  std::string out;
  std::string err;
  /// Where `err` goes on with the answer to command::dump_signal, if that was sent.
  std::optional<std::size_t> dump_at;

  bool ok() const noexcept { return status == 0 && !timed_out; }
  /// Exit code and the last lines of its output, or its dump, for a message; empty when ok().
  std::string reason() const;
};

/// Runs `what` and waits for its end, at most `limit`: then its dump_signal, then SIGTERM, on which
/// launchers end their ranks, and after three more seconds SIGKILL. The program also ends when this
/// process does.
/// \param silence the limit for a time without output, if there is one; ends it in the same way
/// \throws std::system_error when it cannot be started at all; an unknown program is a result with
/// status 127
command_result run_command(const command& what, std::chrono::milliseconds limit,
                           std::optional<std::chrono::milliseconds> silence = std::nullopt);

/// A program that runs beside this one, without input and output, until this object or this process
/// ends: then it is killed.
class background_command {
 public:
  /// For a process with one thread. \throws std::system_error
  explicit background_command(const command& what);
  background_command(const background_command&) = delete;
  background_command& operator=(const background_command&) = delete;
  ~background_command();

 private:
  pid_t pid_;
};

/// The path of `program` on PATH (or `program`, when it names a path that can be executed).
std::optional<std::filesystem::path> find_program(const std::string& program);

}  // namespace weft::bench
