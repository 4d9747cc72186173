// SPDX-License-Identifier: Apache-2.0
// The interface of objects that the engine polls.
#pragma once

#include <cstdint>

namespace weft {

/// An object that the engine polls: a transport, or the upkeep of peers. Owned by the context;
/// every function is called with the progress lock held.
class pollable {
 public:
  virtual ~pollable() = default;

  /// Moves the frames that can be moved now, in bounded work (a few dozen frames), and returns how
  /// many events it handled. A call that finds nothing must cost only a few memory loads.
  virtual unsigned poll() noexcept = 0;

  /// The last poll before a thread sleeps, after the doorbell was armed: checks all peers, also
  /// those that poll() visits in turn. True: work is there (or may be soon without a ring), so do
  /// not sleep.
  virtual bool has_work() noexcept = 0;

  /// A descriptor that becomes readable when there is work that poll() does not look for by itself:
  /// on a socket that was idle. One descriptor for all of them, the same as long as this pollable
  /// lives; -1: there is none, all data arrives in memory.
  virtual int handle() const noexcept { return -1; }

  /// False: handle() will not become readable, so that it need not be watched. Changed by this
  /// pollable, with the progress lock held; code that sets it outside of a pass calls
  /// services::look_after(), because a thread that sleeps does not watch the handle yet.
  bool worth_watching = false;

  /// handle() was found readable: the next poll() handles that.
  virtual void on_ready() noexcept {}

  /// A thread is about to sleep: from now on handle() becomes readable also for work that poll()
  /// otherwise looks for by itself.
  virtual void arm() noexcept {}

  /// Sends frames that wait to leave together with others. Called by a thread that leaves the
  /// engine, while `busy` is set.
  virtual void flush() noexcept {}

  /// Work is under way for which no doorbell rings: connections being made, bytes not flushed, an
  /// unfinished copy. So a thread makes passes as long as this is set. Code that sets it outside of
  /// a pass calls services::look_after(). With the progress lock held.
  bool busy = false;

  /// Whether sent frames have not been read yet, as of the last wake_peer().
  virtual bool has_unconsumed() const noexcept { return false; }

  /// How many doorbells of other processes it has rung so far.
  virtual std::uint64_t bells_rung() const noexcept { return 0; }

  /// False: poll() would find nothing, so that a pass need not call it. Changed by this pollable,
  /// with the progress lock held.
  bool worth_polling = true;

  /// Rings peers that this process waits for and that do not poll by themselves. Called now and
  /// then by a thread with empty polls, and before it sleeps.
  virtual void wake_peer() noexcept {}
};

}  // namespace weft
