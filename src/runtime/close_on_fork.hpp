// SPDX-License-Identifier: Apache-2.0
// Sockets that a child of this process does not keep.
#pragma once

namespace weft::runtime {

/// FD_CLOFORK of POSIX.1-2024, which Linux does not have. A child made by fork shares sockets with
/// its parent; when the parent is killed, the kernel goes on answering for it, and a peer on
/// another host waits. So the child closes them, first of all: in its copy, the number refers to
/// /dev/null from then on, so that nothing else of the child's gets it while copies of the parent's
/// objects know it. The parent's socket is as it was: nothing is shut down.
///
/// Children by vfork, posix_spawn and system execute another program, which close-on-exec is for;
/// those by the bare system call are not noticed. Costs a mutex when a socket comes and goes.
class close_on_fork {
 public:
  close_on_fork() noexcept = default;
  /// \param fd is closed by its owner later than this goes
  explicit close_on_fork(int fd) noexcept { add(fd); }
  ~close_on_fork() { drop(); }
  close_on_fork(const close_on_fork&) = delete;
  close_on_fork& operator=(const close_on_fork&) = delete;

  /// For this one from now on.
  void watch(int fd) noexcept {
    drop();
    add(fd);
  }
  void drop() noexcept;

 private:
  friend struct closed_on_fork;
  void add(int fd) noexcept;

  int fd_ = -1;
  close_on_fork* before_ = nullptr;  // in the list of all of them, under its mutex
  close_on_fork* after_ = nullptr;
};

}  // namespace weft::runtime
