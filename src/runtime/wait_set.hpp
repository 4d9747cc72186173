// SPDX-License-Identifier: Apache-2.0
// The one place where a thread of the engine sleeps. docs/adr/0003-wait-set.md says why it is so.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace weft::runtime {

using time_point = std::chrono::steady_clock::time_point;

/// Told when a descriptor is ready. Owned by the code that added it; lives as long as it is added.
class fd_watcher {
 public:
  /// Called inside poll() or wait(), by the thread that called those. May add and remove
  /// descriptors, its own included; may not call poll() or wait(). Can come without cause: whoever
  /// reads must be ready to find nothing.
  /// @param events the EPOLL* bits that hold; EPOLLERR and EPOLLHUP come unasked.
  virtual void on_ready(std::uint32_t events) noexcept = 0;

 protected:
  ~fd_watcher() = default;
};

/// Where one thread sleeps on everything at once. add(), remove(), poll() and wait() are called by
/// one thread at a time, not always the same one: the engine's progress lock sees to it. The
/// threads that called them may compute, sleep or exit in between. wake() comes from any thread,
/// and from a signal handler.
class wait_set {
 public:
  wait_set() = default;
  wait_set(const wait_set&) = delete;
  wait_set& operator=(const wait_set&) = delete;
  virtual ~wait_set() = default;

  /// "uring" or "epoll".
  virtual const char* name() const noexcept = 0;

  /// Watches a descriptor until remove(). Level-triggered: as long as it is ready, every poll()
  /// and wait() tells so, however little the watcher read.
  ///
  /// A transport that tries a busy socket directly need not be told at all: it removes the socket
  /// in on_ready() and adds it again when it falls quiet. With io_uring such a removal costs no
  /// system call, and the addition shares one with the next poll() or wait().
  /// @param fd stays the caller's; remove it here before closing it. Only once at a time.
  /// @param events EPOLLIN, EPOLLOUT, EPOLLPRI, EPOLLRDHUP; how they are triggered is not a choice.
  /// @param w told; must outlive its being added.
  /// Throws weft::error(system) when the kernel refuses, invalid_argument when fd is in already.
  virtual void add(int fd, std::uint32_t events, fd_watcher& w) = 0;

  /// Afterwards the watcher is not called again, whatever was already under way, and the set holds
  /// no reference to the file. Nothing happens if fd is not in.
  virtual void remove(int fd) noexcept = 0;

  /// Tells without sleeping. With io_uring and nothing ready it reads memory and enters no kernel;
  /// with epoll it is a system call, so how often it is called is for the caller to limit.
  /// Leaves a wake() for the next wait(). Returns how many watchers were told.
  virtual unsigned poll() noexcept = 0;

  /// Sleeps until a watcher was told, wake(), or the deadline. Signals do not end it.
  /// @param deadline time_point::max() for none; one that has passed makes this a poll().
  /// Returns how many watchers were told.
  virtual unsigned wait(time_point deadline) noexcept = 0;

  /// Makes the present wait() return, or the next one when no thread waits. Several may count as
  /// one.
  virtual void wake() noexcept = 0;

  /// A descriptor that is readable while poll() would tell something, so that another set can watch
  /// this one. With io_uring that needs a thread that enters the kernel; epoll's is always up to
  /// date.
  virtual int descriptor() const noexcept = 0;
};

/// What make_wait_set() settled on.
struct wait_set_choice {
  std::unique_ptr<wait_set> set;
  std::string reason;  ///< empty, or one sentence: why io_uring is not used
};

/// Picks by trying.
/// @param wanted "auto" (io_uring if it works here, otherwise epoll), "uring" or "epoll".
/// Throws weft::error: unsupported when the one named cannot be had, invalid_argument for any other
/// word.
wait_set_choice make_wait_set(std::string_view wanted);

/// The two kinds. Both throw weft::error(unsupported) with the reason when they do not work here.
std::unique_ptr<wait_set> make_uring_wait_set();
std::unique_ptr<wait_set> make_epoll_wait_set();

}  // namespace weft::runtime
