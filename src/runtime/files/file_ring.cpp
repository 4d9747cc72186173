// SPDX-License-Identifier: Apache-2.0
// File jobs by an io_uring of their own. Any thread submits and cancels; results are taken by the
// thread that submits, since many calls have ended by then, and by the thread that finds the ring's
// descriptor readable. docs/adr/0036-files-and-descriptors.md
#include "runtime/files/file_calls.hpp"

#if WEFT_HAVE_URING

#include <fcntl.h>
#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include <weft/error.hpp>

#include "runtime/files/file_job_list.hpp"
#include "runtime/sleep/uring.hpp"

namespace weft::runtime {
namespace {

using detail::file_job;
using std::chrono::nanoseconds;

constexpr timespec between_tries{0, 1'000'000};
constexpr std::chrono::milliseconds longest_enter{10};

/// Containers let a ring be made and then forbid its use, so use it once.
void try_once(uring& ring) {
  io_uring_prep_nop(ring.next_request());
  const int code = ring.enter(std::chrono::seconds(1));
  int seen = -1;
  ring.reap([&](std::uint64_t, int res) { seen = res; });
  if (code != 0 || seen != 0)
    throw error(errc::unsupported,
                std::string("io_uring was set up, but a request through it did not work: ") +
                    std::strerror(code != 0 ? code : -seen));
}

class file_ring final : public file_calls {
 public:
  file_ring(executor& home, detail::fd_wait_service& waits)
      : home_(home), waits_(waits), threads_(make_file_threads(home)) {
    try_once(ring_);
  }
  ~file_ring() override { close(); }

  const char* name() const noexcept override { return "io_uring"; }

  bool start(file_job& j) noexcept override {
    file_job_list done;
    std::unique_lock lock(mutex_);
    if (closed_ || j.cancelled || !is_for_ring(j) || !submit(j)) {
      j.delegated = true;  // the threads also know what to do with one that is not to be made
      lock.unlock();
      return threads_->start(j);
    }
    const bool ended = take_results(done, &j);
    watch();
    lock.unlock();
    complete(done);
    return ended;
  }

  void cancel(file_job& j) noexcept override {
    file_job_list done;
    bool delegated = false;
    {
      const std::lock_guard lock(mutex_);
      if (j.what == file_job::call::close) return;
      j.cancelled = true;
      delegated = j.delegated;
      if (!delegated) {
        if (!j.listed) return;  // not started yet, or ended
        cancel_request(j);
        take_results(done, nullptr);
      }
    }
    if (delegated) threads_->cancel(j);
    complete(done);
  }

  void close() noexcept override {
    for (bool left = true; left;) {
      file_job_list done;
      {
        const std::lock_guard lock(mutex_);
        if (!std::exchange(closed_, true))
          for (file_job* j = in_flight_.first(); j; j = j->after)
            if (j->what != file_job::call::close) cancel_request(*j);
        if (!in_flight_.empty() && ring_.enter(longest_enter) != 0 && ring_.quiet())
          ::nanosleep(&between_tries, nullptr);
        take_results(done, nullptr);
        left = !in_flight_.empty();
      }
      complete(done);
    }
    threads_->close();
  }

 private:
  struct descriptor_wait final : detail::fd_wait {
    explicit descriptor_wait(file_ring& r) noexcept
        : fd_wait(r.ring_.descriptor(), EPOLLIN), of(r) {}
    file_ring& of;
    void on_end(errc status, const std::string& /*why*/) noexcept override {
      of.has_results(status);
    }
  };

  /// The rest is quick, or seldom used.
  static bool is_for_ring(const file_job& j) noexcept {
    return j.what != file_job::call::size && j.what != file_job::call::truncate;
  }

  static void prepare(io_uring_sqe* sqe, const file_job& j) noexcept {
    const auto size = static_cast<unsigned>(j.size);
    const auto offset = static_cast<std::uint64_t>(j.offset);
    switch (j.what) {
      case file_job::call::open:
        io_uring_prep_openat(sqe, AT_FDCWD, j.path, j.flags, j.mode);
        break;
      case file_job::call::read:
        io_uring_prep_read(sqe, j.fd, j.memory, size, offset);
        break;
      case file_job::call::write:
        io_uring_prep_write(sqe, j.fd, j.memory, size, offset);
        break;
      case file_job::call::sync:
        io_uring_prep_fsync(sqe, j.fd, 0);
        break;
      default:
        io_uring_prep_close(sqe, j.fd);
    }
    sqe->user_data = reinterpret_cast<std::uintptr_t>(&j);
  }

  // --- with the mutex held -----------------------------------------------------------------------

  /// \return false: the kernel does not take it, for want of memory or because the ring is refused
  ///   from now on (a seccomp filter that was loaded since it was made)
  bool submit(file_job& j) noexcept {
    io_uring_sqe* const sqe = ring_.next_request();
    if (!sqe) return false;
    prepare(sqe, j);
    ring_.enter(nanoseconds::zero());
    if (ring_.unsubmitted() != 0) {
      uring::withdraw(sqe);
      return false;
    }
    if (!j.listed) in_flight_.push(j);
    return true;
  }

  void cancel_request(file_job& j) noexcept {
    io_uring_sqe* const sqe = ring_.next_request();
    if (!sqe) return;
    io_uring_prep_cancel64(sqe, reinterpret_cast<std::uintptr_t>(&j), 0);
    sqe->user_data = 0;
    ring_.enter(nanoseconds::zero());
    if (ring_.unsubmitted() != 0) uring::withdraw(sqe);
  }

  /// \param own this job is not added to `done` \return whether it has ended
  bool take_results(file_job_list& done, const file_job* own) noexcept {
    bool own_ended = false;
    if (ring_.overflown()) ring_.enter(nanoseconds::zero());
    ring_.reap([&](std::uint64_t key, int res) {
      if (key == 0) return;
      file_job& j = *reinterpret_cast<file_job*>(static_cast<std::uintptr_t>(key));
      if (!ends(j, res)) return;
      if (&j == own)
        own_ended = true;
      else
        done.push(j);
    });
    return own_ended;
  }

  /// \return false: the job goes on
  bool ends(file_job& j, int res) noexcept {
    const bool interrupted = res == -ECANCELED || res == -EINTR;
    const bool wanted = !j.cancelled && !closed_;
    // The thread that submitted the request has exited: only the request is lost.
    if (interrupted && wanted && submit(j)) return false;
    in_flight_.remove(j);
    if (interrupted && !wanted) {
      j.status = j.cancelled ? errc::stopped : errc::closed;
      return true;
    }
    // Some files cannot do it without a thread that blocks.
    if (interrupted || res == -EAGAIN || res == -EINVAL || res == -EOPNOTSUPP) {
      j.delegated = true;
      return threads_->start(j);
    }
    j.has_returned(res);
    return true;
  }

  void watch() noexcept {
    if (watched_ || in_flight_.empty()) return;
    watched_ = waits_.start(wait_) == errc::ok;
  }

  // -----------------------------------------------------------------------------------------------

  void has_results(errc status) noexcept {
    if (status != errc::ok && status != errc::closed) ::nanosleep(&between_tries, nullptr);
    file_job_list done;
    {
      const std::lock_guard lock(mutex_);
      watched_ = false;
      take_results(done, nullptr);
      if (status != errc::closed) watch();
    }
    complete(done);
  }

  void complete(file_job_list& done) noexcept {
    while (file_job* j = done.pop()) (j->on ? *j->on : home_).post(*j);
  }

  executor& home_;
  detail::fd_wait_service& waits_;
  const std::unique_ptr<file_calls> threads_;
  std::mutex mutex_;  // guards the members below
  bool closed_ = false;
  bool watched_ = false;
  file_job_list in_flight_;
  uring ring_{64, 256};
  descriptor_wait wait_{*this};
};

}  // namespace

std::unique_ptr<file_calls> make_file_ring(executor& home, detail::fd_wait_service& waits) {
  return std::make_unique<file_ring>(home, waits);
}

std::string probe_file_ring() {
  try {
    uring ring{8, 8};
    try_once(ring);
    return {};
  } catch (const error& e) {
    return e.what();
  }
}

}  // namespace weft::runtime

#else

#include <weft/error.hpp>

namespace weft::runtime {

std::string probe_file_ring() {
  return "weft was built without io_uring; install liburing-dev and build anew";
}

std::unique_ptr<file_calls> make_file_ring(executor&, detail::fd_wait_service&) {
  throw error(errc::unsupported, probe_file_ring());
}

}  // namespace weft::runtime

#endif  // WEFT_HAVE_URING
