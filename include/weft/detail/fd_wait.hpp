// SPDX-License-Identifier: Apache-2.0
// Waits for descriptors, and the service that ends them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <weft/error.hpp>

namespace weft::runtime {
class fd_waits;
}

namespace weft::detail {

/// A wait until a descriptor is ready. Lives in its owner until it has ended; neither copied nor
/// moved. When it has ended, no part of weft refers to the descriptor or its file for its sake.
class fd_wait {
 public:
  /// How soon a thread that polls messages all the time has to notice.
  enum class urgency : std::uint8_t { prompt, patient };

  /// \param fd     the owner's
  /// \param events EPOLLIN or EPOLLOUT; errors and hang-ups count as ready, too
  fd_wait(int fd, std::uint32_t events, urgency u = urgency::prompt) noexcept
      : fd_(fd), events_(events), urgency_(u) {}
  fd_wait(const fd_wait&) = delete;
  fd_wait& operator=(const fd_wait&) = delete;

  int fd() const noexcept { return fd_; }

 protected:
  ~fd_wait() = default;

  /// Whether it was cancelled, perhaps too late. Any thread.
  bool was_cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }

  /// Called once for each start, by the thread that found it, without locks of weft. May destroy
  /// this object.
  /// \param status ok: ready; stopped: cancelled; closed: the service ends; system, out_of_memory,
  ///        invalid_argument: the kernel or the process cannot watch the descriptor
  /// \param why    the cause, for people, if the descriptor cannot be watched
  virtual void on_end(errc status, const std::string& why) noexcept = 0;

 private:
  friend class runtime::fd_waits;

  const int fd_;
  const std::uint32_t events_;
  const urgency urgency_;
  std::atomic<bool> cancelled_{false};  // written under the service's mutex, as are these:
  bool waiting_ = false;
  errc status_ = errc::ok;
  std::string why_;
  fd_wait* before_ = nullptr;
  fd_wait* after_ = nullptr;
};

/// Ends waits for descriptors. A context is such a service. All functions may be called from any
/// thread.
class fd_wait_service {
 public:
  /// \return ok: `w` ends later, once, by on_end; stopped: it was cancelled before; closed,
  ///         out_of_memory: it does not end, either
  virtual errc start(fd_wait& w) noexcept = 0;

  /// Ends `w` soon with errc::stopped, unless it ends otherwise first. Before `start`: makes that
  /// fail.
  virtual void cancel(fd_wait& w) noexcept = 0;

 protected:
  ~fd_wait_service() = default;
};

}  // namespace weft::detail
