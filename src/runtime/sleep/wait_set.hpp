// SPDX-License-Identifier: Apache-2.0
// The only place where a thread of the engine sleeps. docs/adr/0003-wait-set.md has the reasons.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace weft::runtime {

using time_point = std::chrono::steady_clock::time_point;

/// Called when a descriptor is ready. Owned by the code that added it; must live as long as it is
/// added.
class fd_watcher {
 public:
  /// Called inside poll() or wait(), by the thread that called those. May add and remove
  /// descriptors, its own included; may not call poll() or wait(). Can be called without cause:
  /// code that reads the descriptor must be ready to find nothing.
  /// @param events the EPOLL* bits that hold; EPOLLERR and EPOLLHUP come unasked.
  virtual void on_ready(std::uint32_t events) noexcept = 0;

 protected:
  ~fd_watcher() = default;
};

/// The object in which one thread sleeps on all its descriptors. add(), remove(), poll() and wait()
/// are called by one thread at a time, not always the same one: the engine's progress lock ensures
/// that. The threads that called them may compute, sleep or exit in between. wake() comes from any
/// thread, and from a signal handler.
class wait_set {
 public:
  wait_set() = default;
  wait_set(const wait_set&) = delete;
  wait_set& operator=(const wait_set&) = delete;
  virtual ~wait_set() = default;

  /// "uring" or "epoll".
  virtual const char* name() const noexcept = 0;

  /// Watches a descriptor until remove(). Level-triggered: as long as it is ready, every poll() and
  /// wait() calls the watcher, however little the watcher read.
  ///
  /// A transport that reads a busy socket directly needs no calls: it removes the socket in
  /// on_ready() and adds it again when it becomes idle. With io_uring such a removal costs no
  /// system call, and the addition shares one with the next poll() or wait().
  /// @param fd stays the caller's; remove it from the set before closing it. Only once at a time.
  /// @param events EPOLLIN, EPOLLOUT, EPOLLPRI, EPOLLRDHUP; how they are triggered is not a choice.
  /// @param w called; must outlive its being added.
  /// Throws weft::error(system) when the kernel refuses, invalid_argument when fd is in already.
  virtual void add(int fd, std::uint32_t events, fd_watcher& w) = 0;

  /// Afterwards the watcher is not called again, whatever events were already under way, and the
  /// set holds no reference to the file. No effect if fd is not in the set.
  virtual void remove(int fd) noexcept = 0;

  /// Calls watchers without sleeping. With io_uring and nothing ready it reads memory and does not
  /// enter the kernel; with epoll it is a system call, so the caller has to limit how often it
  /// calls. Leaves a wake() for the next wait(). Returns how many watchers were called.
  virtual unsigned poll() noexcept = 0;

  /// Sleeps until a watcher was called, wake(), or the deadline. Signals do not end it.
  /// @param deadline time_point::max() for none; one that has passed makes this a poll().
  /// Returns how many watchers were called.
  virtual unsigned wait(time_point deadline) noexcept = 0;

  /// Makes the present wait() return, or the next one when no thread waits. Several calls may count
  /// as one.
  virtual void wake() noexcept = 0;

  /// A descriptor that is readable while poll() would call a watcher, so that another set can watch
  /// this one. With io_uring that needs a thread that enters the kernel; the one of epoll is always
  /// up to date.
  virtual int descriptor() const noexcept = 0;
};

/// The result of make_wait_set().
struct wait_set_choice {
  std::unique_ptr<wait_set> set;
  std::string reason;  ///< empty, or one sentence: why io_uring is not used
};

/// Chooses by trial.
/// @param wanted "auto" (io_uring if it works on this host, otherwise epoll), "uring" or "epoll".
/// Throws weft::error: unsupported when the named set is not available, invalid_argument for any
/// other word.
wait_set_choice make_wait_set(std::string_view wanted);

/// The two kinds. Both throw weft::error(unsupported) with the reason when they do not work on this
/// host.
std::unique_ptr<wait_set> make_uring_wait_set();
std::unique_ptr<wait_set> make_epoll_wait_set();

}  // namespace weft::runtime
