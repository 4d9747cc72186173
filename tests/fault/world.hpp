// SPDX-License-Identifier: Apache-2.0
// A world of one's own for tests that break processes: what is left over is seen, and is ours.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fault {

/// Whether these programs are built with a sanitizer, which is slow and has needs of its own.
inline constexpr bool sanitized = WEFT_TEST_SANITIZED;

/// Whether they are put to one transport only, that of an RDMA device, which is emulated as a rule:
/// slow, and without a second host (tests/rdma_guest).
bool on_a_device();

/// Where weft's programs are; those of the tests are in its folder `tests`.
inline const std::string bin = WEFT_TEST_BIN_DIR;

/// Starts a program with a limit, or without a system call: see programs/refuse.cpp.
inline const std::string refuse_program = bin + "/tests/refuse";

/// Which transports every test here goes through, as values of WEFT_TRANSPORTS. A transport that
/// is added to this list is put to all of them.
const std::vector<std::string>& transports();

/// Moves this process into network and mount namespaces of its own, with a /dev/shm and a loopback
/// of its own, and makes it the parent of every orphan of its children. Once per process is enough.
/// \return what could not be had, so that less can be told about leftovers; empty if all is well
const std::string& enter_private_world();

/// What processes that have ended left behind, one line for each thing: processes, abstract sockets
/// and names in /dev/shm. Waits a moment for what the kernel clears away on its own time. Empty:
/// nothing.
std::string leftovers();
/// From now on also abstract sockets of another network namespace, which nobody else uses.
/// \param network a descriptor of it, which stays open
void look_for_leftovers_in(int network);

/// How many descriptors a process has.
std::size_t open_descriptors(pid_t of = 0);  // 0: this one

/// KiB of memory that a process holds: a line of /proc/PID/status, "VmRSS" or "VmData".
std::size_t memory_of(pid_t pid, const std::string& line = "VmRSS");

/// A program that a test started, in a group of its own. Killed with its group, and reaped, by the
/// destructor at the latest.
class program {
 public:
  /// \param command     program and arguments
  /// \param environment NAME=value on top of this process's own
  explicit program(std::vector<std::string> command, std::vector<std::string> environment = {});
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  pid_t pid() const noexcept { return pid_; }

  /// Its children in the order in which they were started. Empty when it has ended.
  std::vector<pid_t> children() const;

  bool has_ended();

  /// Waits for its end. One that takes longer than anything can take here is killed.
  /// \return its status as the shell tells it (128 + a signal's number), -1 if it hung
  int wait();

  /// What it wrote to standard output and standard error so far, in one.
  std::string output() const;

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  int status_ = -1;
  bool ended_ = false;
};

/// Runs a program to its end.
struct outcome {
  int status;  ///< as program::wait
  std::string output;
};
outcome run(std::vector<std::string> command, std::vector<std::string> environment = {});

/// Looks again and again until `what` holds. \return false if it did not within any sensible time
bool eventually(const std::function<bool()>& what);

/// How often `what` is in `text`.
std::size_t count(std::string_view text, std::string_view what);

}  // namespace fault
