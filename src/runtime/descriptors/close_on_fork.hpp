// SPDX-License-Identifier: Apache-2.0
// Sockets that a child process must not keep.
#pragma once

namespace weft::runtime {

/// FD_CLOFORK of POSIX.1-2024, which Linux does not have. A child made by fork shares sockets with
/// its parent; when the parent is killed, the kernel goes on answering for the sockets, and a peer
/// on another host waits. So the child closes them, first of all: in the child the number refers to
/// /dev/null from then on, so that no other file of the child gets the number while copies of the
/// parent's objects hold it. The parent's socket is unchanged: nothing is shut down.
///
/// Children by vfork, posix_spawn and system execute another program, which close-on-exec is for;
/// children by the bare system call are not noticed. Costs a mutex when a socket is added or
/// dropped.
class close_on_fork {
 public:
  close_on_fork() noexcept = default;
  /// \param fd is closed by its owner after this object is destroyed
  explicit close_on_fork(int fd) noexcept { add(fd); }
  ~close_on_fork() { drop(); }
  close_on_fork(const close_on_fork&) = delete;
  close_on_fork& operator=(const close_on_fork&) = delete;

  /// Guards this descriptor from now on.
  void watch(int fd) noexcept {
    drop();
    add(fd);
  }
  void drop() noexcept;

 private:
  friend struct closed_on_fork;
  void add(int fd) noexcept;

  int fd_ = -1;
  close_on_fork* before_ = nullptr;  // in the list of all objects, under its mutex
  close_on_fork* after_ = nullptr;
};

}  // namespace weft::runtime
