// SPDX-License-Identifier: Apache-2.0
// A thread follows while another one leads, whose completion is the follower's end: it learns of
// it, whether the kernel makes fences for other threads or not.
// tests/models/followers.pml has a third thread, which gets the place.
// clang-format off
// mutation FOLLOW_UNFENCED: src/runtime/lock/leadership.cpp: std::atomic_thread_fence(std::memory_order_seq_cst);  // the count above is not one on arm64 => ;
// mutation FOLLOW_WITHOUT_MEMBARRIER: src/runtime/lock/leadership.cpp: private_fence(); => static_cast<void>(0);
// mutation NOTIFY_UNFENCED: src/runtime/lock/leadership.hpp: std::atomic_thread_fence(std::memory_order_seq_cst); => ;
// mutation SLEEP_UNASKED: src/runtime/lock/leadership.cpp: if (done.load(std::memory_order_acquire)) wake_done(); => nothing
// clang-format on
#include "waits.hpp"

#include <condition_variable>
#include <memory>

#include "scenario.hpp"

namespace waits {

/// Waiting threads see each notification that comes after they have released the mutex.
class condition_variable {
 public:
  template <class Lock, class Over>
  void wait(Lock& lock, Over over) {
    while (!over()) {
      const unsigned seen = told_;
      lock.unlock();
      interleave::wait_until([this, seen] { return told_ != seen; });
      lock.lock();
    }
  }
  void notify_one() noexcept {
    interleave::point();
    ++told_;
    interleave::changed();
  }

 private:
  unsigned told_ = 0;
};

}  // namespace waits

namespace weft::std {
using condition_variable = ::waits::condition_variable;
struct thread {
  using id = unsigned;
};
namespace this_thread {
/// Nobody leads twice in this scenario, so each call may be another thread's.
inline unsigned get_id() {
  static unsigned last = 0;
  return ++last;
}
}  // namespace this_thread
}  // namespace weft::std

#include "runtime/lock/leadership.cpp"
#include "runtime/lock/progress_lock.cpp"

namespace {
bool refused = false;  // whether the kernel refuses membarrier, in this run
}

namespace weft::runtime {
bool join_private_fences() noexcept { return !refused; }
bool private_fence() noexcept {
  interleave::point();
  interleave::fence_all();
  return true;
}
}  // namespace weft::runtime

namespace {

using weft::runtime::leadership;

struct state {
  weft::runtime::progress_lock lock;
  leadership leaders{lock};
  weft::std::atomic<bool> done{false};
};

}  // namespace

interleave::bounds within() { return {.preemptions = 3, .delays = 1, .stale = 2}; }

void scenario(interleave::run& now) {
  refused = interleave::any_of(2) == 1;
  const auto s = std::make_shared<state>();
  s->leaders.try_take();
  now.thread([s] {
    s->done.store(true, std::memory_order_release);
    s->leaders.notify_followers();
  });
  now.thread([s] {
    interleave::expect(s->leaders.take(s->done) == leadership::outcome::done, "nobody leads");
  });
}
