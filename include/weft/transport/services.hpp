// SPDX-License-Identifier: Apache-2.0
// What the progress engine does for a transport.
#pragma once

#include <string_view>

#include <weft/log.hpp>

namespace weft::transports {

/// The progress engine, as its transports see it. Owned by the context; outlives the transports.
/// Every function is called with the progress lock held.
///
/// A transport calls `look_after` when it has got work outside of a pass (pollable::poll): a frame
/// to write, a copy to begin. It need not call it inside of a pass, nor for what arrives: the
/// engine sleeps on pollable::handle.
/// \code
/// post my_link::send(…) {
///   queue_.push_back(…);
///   transport_.busy = true;            // until poll() has written it
///   transport_.services().look_after();
///   return post::done;
/// }
/// \endcode
class services {
 public:
  /// A pollable has new work: makes sure that a thread polls it, also if all sleep. Costs little
  /// where a thread polls anyway.
  virtual void look_after() noexcept = 0;

  /// Whether a pass is under way: this call comes from within pollable::poll.
  virtual bool in_pass() const noexcept = 0;

  /// Whether the thread that runs the engine polls again soon: then a frame may wait, to leave
  /// together with others (pollable::flush). Otherwise it would not be sent.
  virtual bool passes_soon() const noexcept = 0;

  /// Whether the thread that runs the engine polls once more in any case before it sleeps: then
  /// look_after is not needed. False where passes_soon is only likely.
  virtual bool passes_anyway() const noexcept = 0;

  /// Whether a thread makes passes while the application computes. Constant.
  virtual bool has_progress_thread() const noexcept = 0;

  /// Whether the job has more processes on this host than there are cores. Constant.
  virtual bool is_crowded() const noexcept = 0;

  /// A line for people, to the sink of options::log: of what no operation reports, and not often.
  virtual void report(log_level level, std::string_view line) noexcept = 0;

 protected:
  ~services() = default;
};

}  // namespace weft::transports
