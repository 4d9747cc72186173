// SPDX-License-Identifier: Apache-2.0
// The wait set where io_uring is forbidden: an epoll instance and an eventfd to wake it.
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <weft/error.hpp>

#include "runtime/descriptors/event_fd.hpp"
#include "runtime/os/errno_hint.hpp"
#include "runtime/sleep/deadline.hpp"
#include "runtime/sleep/wait_set.hpp"
#include "runtime/sleep/watch_table.hpp"

namespace weft::runtime {
namespace {

using std::chrono::ceil;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

class epoll_wait_set final : public wait_set {
 public:
  epoll_wait_set() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_) throw error(errc::unsupported, "epoll_create1: " + describe_errno(errno));
    control(wake_.fd(), EPOLLIN, wake_key);
  }

  const char* name() const noexcept override { return "epoll"; }

  void add(int fd, std::uint32_t events, fd_watcher& w) override {
    const std::uint32_t wanted = table_.insert(fd, events, w).events;
    try {
      control(fd, wanted, table_.key(fd));
    } catch (...) {
      table_.erase(fd);
      throw;
    }
  }

  void remove(int fd) noexcept override {
    if (!table_.contains(fd)) return;
    table_.erase(fd);
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }

  unsigned poll() noexcept override { return tell(gather(nanoseconds::zero())); }

  unsigned wait(time_point deadline) noexcept override {
    for (;;) {
      const unsigned told = tell(gather(remaining(deadline)));
      if (woken_) {
        // Before returning: a wake() up to here counts for this wait(), a later one for the next.
        wake_.drain();
        woken_ = false;
        return told;
      }
      if (told != 0 || steady_clock::now() >= deadline) return told;
    }
  }

  void wake() noexcept override { wake_.ring(); }
  int descriptor() const noexcept override { return epoll_.get(); }

 private:
  static constexpr std::uint64_t wake_key = std::numeric_limits<std::uint64_t>::max();

  void control(int fd, std::uint32_t events, std::uint64_t key) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
      throw error(errc::system, "epoll_ctl(add) of descriptor " + std::to_string(fd) + ": " +
                                    describe_errno(errno));
    }
  }

  /// Fetches one batch; further events are fetched by the next call, the kernel takes turns.
  unsigned gather(nanoseconds at_most) noexcept {
    const int size = static_cast<int>(batch_.size());
    int got = -1;
    if (exact_ && at_most != nanoseconds::zero() && at_most != forever) {
      const auto whole = std::chrono::floor<seconds>(at_most);
      const timespec t{whole.count(), (at_most - whole).count()};
      got = ::epoll_pwait2(epoll_.get(), batch_.data(), size, &t, nullptr);
      // Old container profiles answer EPERM to system calls that they do not know.
      if (got < 0 && (errno == ENOSYS || errno == EPERM)) exact_ = false;
    } else {
      got = ::epoll_wait(epoll_.get(), batch_.data(), size, in_milliseconds(at_most));
    }
    return got < 0 ? 0 : static_cast<unsigned>(got);
  }

  /// Rounds up, so that no timeout ends before the deadline; wait() repeats where an int is too
  /// short.
  static int in_milliseconds(nanoseconds at_most) noexcept {
    if (at_most == forever) return -1;
    constexpr std::int64_t longest = std::numeric_limits<int>::max();
    return static_cast<int>(std::min<std::int64_t>(ceil<milliseconds>(at_most).count(), longest));
  }

  unsigned tell(unsigned count) noexcept {
    unsigned told = 0;
    for (unsigned i = 0; i < count; ++i) {
      const std::uint64_t key = batch_[i].data.u64;
      if (key == wake_key) {
        woken_ = true;
      } else if (const auto* row = table_.find(key)) {
        row->watcher->on_ready(batch_[i].events);
        ++told;
      }
    }
    return told;
  }

  unique_fd epoll_;
  event_fd wake_;
  watch_table table_;
  std::array<epoll_event, 128> batch_{};
  bool woken_ = false;  ///< seen, not yet drained
  bool exact_ = true;   ///< epoll_pwait2 (kernel 5.11) has not been refused
};

}  // namespace

std::unique_ptr<wait_set> make_epoll_wait_set() { return std::make_unique<epoll_wait_set>(); }

}  // namespace weft::runtime
