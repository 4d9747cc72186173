// SPDX-License-Identifier: Apache-2.0
// Something that the engine polls.
#pragma once

#include <cstdint>

namespace weft::runtime {

/// What the engine polls: a transport, or the upkeep of peers. Owned by the context; every function
/// is called with the progress lock held.
class pollable {
 public:
  virtual ~pollable() = default;

  /// Moves what can be moved now, in bounded work (a few dozen frames), and returns how many events
  /// it handled. Nothing to do must cost a few memory loads.
  virtual unsigned poll() noexcept = 0;

  /// The last look before a thread sleeps, after the doorbell was armed: looks everywhere, also at
  /// peers that poll() visits in turn. True: something is there (or may be soon without a ring), so
  /// do not sleep.
  virtual bool has_work() noexcept = 0;

  /// A descriptor that becomes readable when there is something that poll() does not look for by
  /// itself: a socket that was quiet. One for all of them, the same as long as this pollable lives;
  /// -1: there is none, everything arrives in memory.
  virtual int handle() const noexcept { return -1; }

  /// False: handle() will not become readable, so that it need not be looked at. Changed by
  /// this pollable, with the progress lock held.
  bool worth_watching = false;

  /// handle() was found readable: the next poll() looks there.
  virtual void on_ready() noexcept {}

  /// A thread is about to sleep: from now on handle() tells also of what poll() looks for by
  /// itself.
  virtual void arm() noexcept {}

  /// Sends what waits to leave together with more. Called by a thread that leaves the engine.
  virtual void flush() noexcept {}

  /// Something is under way for which no doorbell rings: connections being made, bytes not flushed,
  /// a copy in the middle. So a thread makes passes as long as it is set. Code that sets it outside
  /// of a pass calls engine::look_after(). With the progress lock held.
  bool busy = false;

  /// Whether something that was sent has not been seen yet, as of the last wake_peer().
  virtual bool has_unconsumed() const noexcept { return false; }

  /// How many doorbells of other processes it has rung so far.
  virtual std::uint64_t bells_rung() const noexcept { return 0; }

  /// False: poll() would find nothing, so that a pass need not even call it. Changed by this
  /// pollable, with the progress lock held.
  bool worth_polling = true;

  /// Rings peers that this process waits for and that do not look themselves. Called now and then
  /// by a thread whose polls are empty, and before it sleeps.
  virtual void wake_peer() noexcept = 0;
};

}  // namespace weft::runtime
