// SPDX-License-Identifier: Apache-2.0
// Runs a few threads in every order in which they can run.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

namespace interleave {

/// A small exhaustive scheduler. A scenario sets up some threads, which run as fibers of one real
/// thread, one operation on shared memory at a time. It is run again and again, depth-first over
/// all choices: which thread goes on, and whether a store reaches the memory at once or waits in
/// the store buffer of its thread, as relaxed and release stores may; relaxed ones reach it in any
/// order.
///
/// With `stale`, as on arm64, a load may also find an older value, unless the thread has learned of
/// a newer one: by an acquire of a release behind it, by fences of both sides, or by an earlier
/// load of the same place (docs/testing.md). Only a load that finds a value of the
/// future is missing: a store that a thread makes before an earlier load of its own has found its
/// value.
///
/// Bounds keep the number of runs finite and small: in one run a thread that could go on is
/// interrupted at most so many times, at most so many stores are delayed, and at most so many loads
/// find an older value. A thread that waits for a change costs nothing.
struct bounds {
  int preemptions = 2;
  int delays = 1;
  int stale = 1;
  bool together =
      false;  ///< a store that reaches the memory takes those behind it along: fewer runs
  unsigned long most_runs = 2'000'000;  ///< more: the scenario is too large, which is a failure
};

/// Adds the threads and checks of a scenario to its run.
class run {
 public:
  virtual ~run() = default;
  /// \return its number
  virtual unsigned thread(std::function<void()> body) = 0;
  /// The check runs when all threads have ended, and all stores have reached the memory.
  virtual void at_end(std::function<void()> look) = 0;
};

/// Thrown when a condition does not hold: the run fails.
struct broken : std::logic_error {
  using std::logic_error::logic_error;
};
inline void expect(bool holds, const char* what) {
  if (!holds) throw broken(what);
}

struct report {
  unsigned long runs = 0;
  std::string failure;   ///< of the first run that failed; empty: none
  bool cut_off = false;  ///< there were more runs than the bounds allow
};

/// Runs the scenario in all orders within the bounds, or until one fails: by `broken`, by a thread
/// that never ends, or by all of them waiting.
report explore(const bounds& within, const std::function<void(run&)>& scenario);

// --- what the substitutes of std::atomic and others call ------------------------------------

void point();            ///< another thread may go on here
void point_of_change();  ///< the same; then the thread's own stores reach the memory
void load(const void* at, void* to, std::size_t n,
          std::memory_order how = std::memory_order_relaxed);
void look(const void* at, void* to, std::size_t n);  ///< a relaxed load that is no point
void store(void* at, const void* from, std::size_t n,
           std::memory_order how = std::memory_order_relaxed);
/// A locked instruction, at a point of change. \param wanted null: it does not store
void change(void* at, const void* wanted, std::size_t n, std::memory_order how);
void begin_life(const void* at, std::size_t n);  ///< a new object: the memory has no past
void fence(std::memory_order how = std::memory_order_seq_cst);
void fence_all();        ///< every thread passes a full fence: membarrier
void changed();          ///< wakes the threads that wait for a change
void wait_for_change();  ///< waits until another thread has changed something
void wait_until(const std::function<bool()>& holds);
unsigned any_of(unsigned n);  ///< a number below n: all are tried

/// The thread's process is killed: the thread does nothing any more, and its stack is lost. Its
/// earlier stores still reach the memory. A thread that has ended stays ended.
void kill(unsigned thread);
/// It has ended or was killed, and all its stores are in the memory; a thread that asks sees them.
bool gone(unsigned thread);

/// These bytes are the same memory as those that were named with this key first.
void same_memory(const void* at, std::size_t n, unsigned long key);

}  // namespace interleave
