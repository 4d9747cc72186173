// SPDX-License-Identifier: Apache-2.0
// The wait set on io_uring. Each descriptor has one one-shot poll request in the kernel. When the
// request ends it is made again, and that checks the descriptor anew: so the set is
// level-triggered.
#include "runtime/sleep/wait_set.hpp"

#if WEFT_HAVE_URING

#include <poll.h>
#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>
#include <vector>
#include <weft/error.hpp>

#include "runtime/descriptors/event_fd.hpp"
#include "runtime/os/own_thread.hpp"
#include "runtime/sleep/deadline.hpp"
#include "runtime/sleep/uring.hpp"
#include "runtime/sleep/watch_table.hpp"

namespace weft::runtime {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

/// Sleeps in the ring once, and is woken by another thread: containers let a ring be made and then
/// forbid its use, and valgrind 3.19 lets no other thread run while one sleeps in a ring. So the
/// other thread must not come before the sleep: it waits for a word that the ring itself writes, in
/// the system call that sleeps. Takes as long as the start of a thread.
void try_one_sleep(uring& ring) {
  static constexpr std::uint64_t one = 1;  // the kernel reads it
  event_fd asleep, bell;
  std::thread waker = start_own_thread("weft-probe", "probe of io_uring", [&] {
    pollfd begun{asleep.fd(), POLLIN, 0};
    ::poll(&begun, 1, -1);
    bell.ring();
  });
  io_uring_prep_poll_add(ring.next_request(), bell.fd(), EPOLLIN);
  io_uring_sqe* const write = ring.next_request();
  io_uring_prep_write(write, asleep.fd(), &one, sizeof one, 0);
  write->flags |= IOSQE_CQE_SKIP_SUCCESS;  // so that only the bell ends the sleep

  const auto deadline = steady_clock::now() + std::chrono::seconds(1);
  int code = 0;
  do {
    code = ring.enter(remaining(deadline));
  } while (code == EINTR);
  int seen = 0;
  ring.reap([&](std::uint64_t, int res) { seen = res; });
  asleep.ring();
  waker.join();
  if (code == 0 && seen == EPOLLIN) return;
  throw error(
      errc::unsupported,
      code == ETIME
          ? "io_uring was set up, but nothing wakes a thread that sleeps in it (a tool such "
            "as valgrind that runs one thread at a time)"
          : std::string("io_uring was set up, but a sleep in it did not work: ") +
                std::strerror(code != 0 ? code : std::max(-seen, 0)));
}

class uring_wait_set final : public wait_set {
 public:
  uring_wait_set() {
    try_one_sleep(ring_);
    add(wake_.fd(), EPOLLIN, woken_);
  }

  const char* name() const noexcept override { return "uring"; }  // also after epoll took over

  void add(int fd, std::uint32_t events, fd_watcher& w) override {
    if (instead_) return instead_->add(fd, events, w);
    auto& row = table_.insert(fd, events, w);
    try {
      to_arm_.reserve(table_.size());  // each descriptor is in the list once: queue() has room
    } catch (...) {
      table_.erase(fd);
      throw;
    }
    queue(fd, row);
  }

  void remove(int fd) noexcept override {
    if (instead_) return instead_->remove(fd);
    if (!table_.contains(fd)) return;
    const std::uint64_t key = table_.key(fd);
    const bool armed = std::exchange(table_[fd].armed, false);
    table_.erase(fd);
    if (armed) cancel(key);
  }

  unsigned poll() noexcept override {
    if (instead_) return instead_->poll();
    if (to_arm_.empty() && !refused_ && ring_.quiet()) return 0;
    step(nanoseconds::zero());
    return tell();
  }

  unsigned wait(time_point deadline) noexcept override {
    for (;;) {
      if (instead_) return wait_instead(deadline);
      step(woken_.rung ? nanoseconds::zero() : remaining(deadline));
      const unsigned told = tell();
      if (std::exchange(woken_.rung, false)) {
        // Before returning: a wake() up to here counts for this wait(), a later one for the next.
        wake_.drain();
        if (!instead_) queue(wake_.fd(), table_[wake_.fd()]);
        return told;
      }
      if (told != 0 || steady_clock::now() >= deadline) return told;
    }
  }

  void wake() noexcept override { wake_.ring(); }
  int descriptor() const noexcept override {
    return instead_ ? instead_->descriptor() : ring_.descriptor();
  }

 private:
  struct wake_watcher final : fd_watcher {
    void on_ready(std::uint32_t) noexcept override { rung = true; }
    bool rung = false;  ///< seen, not yet drained
  };

  static constexpr std::uint64_t cancel_key = std::numeric_limits<std::uint64_t>::max();

  /// The request is made at the next step(): additions share one system call.
  void queue(int fd, watch_table::row& row) noexcept {
    if (std::exchange(row.queued, true)) return;
    to_arm_.push_back(fd);
  }

  /// \return false: the kernel refuses the ring from now on (a seccomp filter that was loaded since
  ///   it was made). Interruptions, and want of memory, are temporary.
  bool enter(nanoseconds at_most) noexcept {
    switch (ring_.enter(at_most)) {
      case 0:
      case EINTR:
      case ETIME:
      case EAGAIN:
      case EBUSY:
      case ENOMEM:
        return true;
      default:
        refused_ = true;
        return false;
    }
  }

  /// A request slot. If the queue is full, submits it, which empties it. Null: the ring is refused.
  io_uring_sqe* request() noexcept {
    for (;;) {
      if (io_uring_sqe* sqe = ring_.next_request()) return sqe;
      if (!enter(nanoseconds::zero())) return nullptr;
    }
  }

  /// epoll takes over, with all watched descriptors. If memory or a descriptor for it is missing,
  /// this is tried again after a moment.
  void take_over() noexcept {
    try {
      std::unique_ptr<wait_set> fresh = make_epoll_wait_set();
      for (int fd = 0; static_cast<std::size_t>(fd) != table_.size(); ++fd)
        if (table_.contains(fd)) fresh->add(fd, table_[fd].events, *table_[fd].watcher);
      ring_.end();
      instead_ = std::move(fresh);
    } catch (const std::exception&) {
      const timespec moment{0, 1'000'000};
      nanosleep(&moment, nullptr);
    }
  }

  unsigned wait_instead(time_point deadline) noexcept {
    unsigned told = instead_->wait(woken_.rung ? time_point::min() : deadline);
    if (std::exchange(woken_.rung, false)) {
      wake_.drain();
      told -= told != 0 ? 1 : 0;
    }
    return told;
  }

  void arm_queued() noexcept {
    for (const int fd : to_arm_) {
      auto& row = table_[fd];
      row.queued = false;
      if (!row.watcher || row.armed) continue;
      io_uring_sqe* sqe = request();
      if (!sqe) break;
      io_uring_prep_poll_add(sqe, fd, row.events);
      sqe->user_data = table_.key(fd);
      row.armed = true;
    }
    to_arm_.clear();
  }

  /// Submitted at once: a request still in the kernel would keep the file open after its owner
  /// closed it.
  void cancel(std::uint64_t key) noexcept {
    io_uring_sqe* sqe = request();
    if (!sqe) return;
    io_uring_prep_poll_remove(sqe, key);
    sqe->user_data = cancel_key;
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    while (ring_.unsubmitted() != 0 && enter(nanoseconds::zero())) continue;
  }

  /// Arms queued descriptors, and sleeps unless results are there already.
  void step(nanoseconds at_most) noexcept {
    arm_queued();
    const bool sleep = at_most != nanoseconds::zero() && ring_.quiet();
    if (sleep || ring_.unsubmitted() != 0 || ring_.overflown()) {
      enter(sleep ? at_most : nanoseconds::zero());
    }
    if (refused_) take_over();
  }

  unsigned tell() noexcept {
    if (instead_) return 0;  // the epoll set finds all events
    unsigned told = 0;
    ring_.reap([&](std::uint64_t key, int res) {
      auto* row = table_.find(key);
      if (!row) return;  // removed meanwhile, or a cancellation that came too late
      const int fd = watch_table::fd_of(key);
      row->armed = false;
      if (fd == wake_.fd() && res > 0) {
        woken_.rung = true;  // stays disarmed until wait() drains it, so that poll() stays cheap
        return;
      }
      queue(fd, *row);
      // The thread that submitted the request has exited: only the request is lost.
      if (res == -ECANCELED) return;
      // The watcher learns of any other failure when it tries the descriptor.
      row->watcher->on_ready(res < 0 ? std::uint32_t{EPOLLERR} : static_cast<std::uint32_t>(res));
      ++told;
    });
    return told;
  }

  // The sizes are for hundreds of descriptors: 128 armed per system call, 1024 ready at once before
  // the kernel has to keep results aside; 24 KiB.
  uring ring_{128, 1024};
  event_fd wake_;
  wake_watcher woken_;
  watch_table table_;
  std::vector<int> to_arm_;
  bool refused_ = false;               // the kernel refused the ring later on
  std::unique_ptr<wait_set> instead_;  // the epoll set after that
};

}  // namespace

std::unique_ptr<wait_set> make_uring_wait_set() { return std::make_unique<uring_wait_set>(); }

}  // namespace weft::runtime

#else

#include <weft/error.hpp>

namespace weft::runtime {

std::unique_ptr<wait_set> make_uring_wait_set() {
  throw error(errc::unsupported,
              "weft was built without io_uring; install liburing-dev and build anew");
}

}  // namespace weft::runtime

#endif  // WEFT_HAVE_URING
