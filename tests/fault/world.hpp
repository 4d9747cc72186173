// SPDX-License-Identifier: Apache-2.0
// A private world for tests that break processes: all leftovers are visible, and come from this
// test.
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

/// Whether the tests use one transport only, that of an RDMA device. The device is usually
/// emulated: slow, and without a second host (tests/rdma_guest).
bool on_a_device();

/// The folder of weft's programs; those of the tests are in its folder `tests`.
inline const std::string bin = WEFT_TEST_BIN_DIR;

/// Starts a program with a limit, or without a system call: see programs/refuse.cpp.
inline const std::string refuse_program = bin + "/tests/refuse";

/// The transports that every test in this folder uses, as values of WEFT_TRANSPORTS.
const std::vector<std::string>& transports();

/// Moves this process into its own network and mount namespaces, with their own /dev/shm and
/// loopback, and makes it the parent of all orphans of its children. Once per process is enough.
/// \return what is not available, so that leftovers are found less reliably; empty if all is well
const std::string& enter_private_world();

/// The leftovers of processes that have ended, one line for each: processes, abstract sockets and
/// names in /dev/shm. Waits a moment for what the kernel frees later. Empty: nothing.
std::string leftovers();
/// From now on `leftovers` also checks the abstract sockets of another network namespace, which no
/// other process uses.
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

  /// Waits for its end. Kills a program that takes longer than any test can.
  /// \return its status as the shell tells it (128 + a signal's number), -1 if it hung
  int wait();

  /// What it has written to standard output and standard error so far, together.
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

/// Checks `what` repeatedly until it holds. \return false if it did not within a sensible time
bool eventually(const std::function<bool()>& what);

/// How often `what` occurs in `text`.
std::size_t count(std::string_view text, std::string_view what);

}  // namespace fault
