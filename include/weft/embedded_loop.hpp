// SPDX-License-Identifier: Apache-2.0
// embedded_loop: a context in the event loop of another library, with its coroutines.
// weft/interop/asio.hpp uses it for Asio.
#pragma once

#include <chrono>

#include <weft/context.hpp>

namespace weft {

/// The parts of `run` for an event loop that cannot give its thread away: turns that poll and
/// resume coroutines, and a descriptor to sleep on.
///
///     void on_turn() {  // the event loop was asked to, or the descriptor is readable
///       auto after = loop.turn(steady_clock::now() + 20us);
///       if (after.is == embedded_loop::next::turn) post(on_turn);
///       if (after.is == embedded_loop::next::sleep)
///         watch(loop.descriptor(), after.deadline, on_turn);
///     }
///
/// Everything that is spawned in the context, and every coroutine that resumes at home, runs inside
/// `turn`. A loop that does not call `turn` counts as a thread that computes: the progress thread,
/// if there is one, moves messages meanwhile.
///
/// A thread may call `run` or `sync_wait` of the context outside of a turn. Until it leaves, either
/// it or the turns run the coroutines, never both at once. Not together with an external_loop. Must
/// not outlive the context.
class embedded_loop {
 public:
  /// \param of   the context
  /// \param wake called by any thread: another turn is due, although the descriptor is not
  ///        readable. It must not call a member of this object, nor block.
  /// \param argument for `wake`
  /// \throws weft::error (invalid_argument) when a thread is inside `run`, or there is an external
  ///         or an embedded loop; (system) when the kernel has no descriptor left
  embedded_loop(context& of, void (*wake)(void*) noexcept, void* argument);
  embedded_loop(const embedded_loop&) = delete;
  embedded_loop& operator=(const embedded_loop&) = delete;
  /// Not within a turn. Afterwards `wake` is not called.
  ~embedded_loop();

  /// What the event loop does after a turn.
  enum class next : unsigned char {
    turn,       ///< calls `turn` again, after its other work
    sleep,      ///< calls `turn` when the descriptor is readable, or at `deadline`
    elsewhere,  ///< calls `turn` after `wake`: another thread is inside `run`
  };
  struct outcome {
    next is = next::turn;
    std::chrono::steady_clock::time_point deadline{};  ///< for `sleep`; max(): none
  };

  /// Polls and resumes coroutines; polls on while there is nothing to resume, if operations are
  /// pending. options::spin tells after which time it is better to sleep.
  ///
  /// One thread at a time, not always the same; a change of the thread happens after the end of the
  /// turn before. Not within a turn. Exceptions stay in their tasks.
  /// \param until when the turn ends at the latest; a coroutine that computes is not interrupted
  /// \param others_wait the event loop has other work: the first poll without an event ends the
  ///        turn
  outcome turn(std::chrono::steady_clock::time_point until, bool others_wait = false) noexcept;

  /// Readable when a turn is due, if the last turn ended with `sleep`. Watch it level-triggered, or
  /// anew for each sleep. It does not change, and ends with this object.
  int descriptor() const noexcept;

 private:
  detail::core& core_;
};

}  // namespace weft
