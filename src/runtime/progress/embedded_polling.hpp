// SPDX-License-Identifier: Apache-2.0
// Progress and coroutines in turns, in the event loop of another library: weft/embedded_loop.hpp.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "runtime/progress/caller_loop.hpp"

namespace weft::runtime {

/// No thread stays inside run(). The event loop of another library calls turn() again and again; a
/// turn is a piece of run(), and the thread that makes it is the caller (docs/threading.md). Before
/// the loop sleeps, the last turn has armed the doorbell, and the loop watches descriptor().
/// Between turns a thread may enter run(): it leads until it leaves, and then asks for a turn by
/// `wake`.
///
/// Owned by the engine. Turns may be made by several threads, one after the other.
class embedded_polling {
 public:
  embedded_polling(progress_core& c, sleep_gate& g, leadership& l, caller_loop& loop) noexcept
      : core_(c), gate_(g), leadership_(l), loop_(loop) {}

  /// Asks for a turn. Called by any thread.
  struct wake_up {
    void (*call)(void*) noexcept;
    void* argument;
  };

  /// \throws weft::error when a thread is inside run(), the context is driven by calls or embedded
  void begin(wake_up wake);
  /// Afterwards `wake` is not called. Not within a turn.
  void end() noexcept;
  bool is_on() const noexcept { return core_.caller.embedded.load(std::memory_order_relaxed); }

  /// What follows a turn.
  enum class next : std::uint8_t {
    turn,       ///< another one, soon
    sleep,      ///< the loop may sleep on descriptor(), until `deadline` at most
    elsewhere,  ///< nothing, until `wake` is called: a thread inside run() leads
  };
  /// \param until when the turn ends at the latest, if no coroutine runs longer
  /// \param others_wait the loop has other work: an empty poll ends the turn
  next turn(time_point until, bool others_wait, time_point& deadline) noexcept;

  int descriptor() const noexcept { return core_.caller_reactor->set().descriptor(); }

  /// A thread that enters run() has taken the place.
  void give_way() noexcept;
  /// It has left.
  void come_back() noexcept;

 private:
  progress_core& core_;
  sleep_gate& gate_;
  leadership& leadership_;
  caller_loop& loop_;
  sleep_record slept_;  // of the leader
  std::mutex mutex_;
  wake_up wake_{};  // guarded by mutex_; null outside of begin() and end()
};

}  // namespace weft::runtime
