// SPDX-License-Identifier: Apache-2.0
// signal_set: awaits signals of the process, such as SIGINT and SIGTERM.
#pragma once

#include <csignal>
#include <initializer_list>
#include <thread>

#include <weft/context.hpp>
#include <weft/coro/task.hpp>

namespace weft {

/// Takes signals by signalfd(2), in place of handlers:
///
///     task<void> play(context& ctx) {
///       signal_set end(ctx, {SIGINT, SIGTERM});   // first, before threads of your own start
///       co_await when_any(serve(ctx), end.next());
///     }
///     int main() { return run_main(play); }
///
/// A process takes a signal by this set only if every thread blocks it. The constructor blocks the
/// signals in its own thread, and threads that this thread starts later inherit that. The threads
/// of a context block all signals already; those of a `pool` do if they are made afterwards. So
/// construct it early, on the thread of `main`, where `run_main` runs its function, too. Programs
/// that the process starts inherit blocked signals, too: unblock them between fork and exec.
///
/// Only signals for the process arrive, as those of a terminal and of kill(1), and not those for
/// one thread, as raise and pthread_kill send. Several signals of one kind may count as one.
class signal_set {
 public:
  /// \param ctx     outlives this object
  /// \param signals to be taken, not SIGKILL or SIGSTOP
  /// \throws weft::error  invalid_argument: no signal, or one that cannot be taken, or that
  ///         another thread does not block; system: no descriptor is left
  signal_set(context& ctx, std::initializer_list<int> signals);
  signal_set(const signal_set&) = delete;
  signal_set& operator=(const signal_set&) = delete;
  /// Restores the thread's former mask, for the signals of this set, and so must run on the thread
  /// of the constructor, or it leaves the mask as it is. A signal that has come and was not awaited
  /// then acts as if there had been no set.
  ~signal_set();

  /// Waits for the next signal of the set. One coroutine at a time gets it.
  /// \return its number
  /// \throws weft::error  stopped: without loss of a signal; closed: the context ends
  task<int> next();

 private:
  context* ctx_;
  sigset_t blocked_;  // by this object
  int fd_ = -1;
  std::thread::id thread_ = std::this_thread::get_id();
};

}  // namespace weft
