// SPDX-License-Identifier: Apache-2.0
// The events of a context with their times, for display in Perfetto.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/os/log.hpp"
#include "runtime/trace/call_tree.hpp"
#include "runtime/trace/progress_state.hpp"

namespace weft::runtime {

/// The last 131072 events of a context, kept in memory and written to a file at its end; or a call
/// tree, which has messages and sleeps of the same events, and steps of its own. Owned by the
/// engine. Every function that records is called with the progress lock held, so that the
/// buffer needs no lock; an event without the lock (a sleep) is recorded when the progress lock is
/// held again. Off, a record costs one load and a branch that is never taken; on, it reads the
/// clock and allocates nothing.
class trace {
 public:
  using moment = std::chrono::steady_clock::time_point;

  enum class kind : std::uint8_t {
    posted,              ///< a send begins
    sent,                ///< all bytes of a message were taken by the transport, or the receiver
    received,            ///< a receive was filled
    unexpected,          ///< a message came before its receive
    send_rendezvous,     ///< a message that waits for its receiver's answer
    receive_rendezvous,  ///< a message whose rest the receiver requests, or reads
    caller_sleeps,       ///< the thread inside run() in its wait set
    progress_sleeps,     ///< the progress thread in its wait set
    progress_polls,      ///< the progress thread polls, because the caller computes
    state,               ///< which thread made progress
  };

  trace() = default;
  /// Writes the file, if there is to be one; reports when it cannot be written.
  ~trace();
  trace(const trace&) = delete;
  trace& operator=(const trace&) = delete;

  /// Starts recording. Before any thread records.
  /// \param file where the trace is written; replaced if it exists
  /// \param rank of this process, for a trace of all ranks
  /// \param reports told when it cannot be written at the end
  /// \throws weft::error (system) if it cannot be written, (out_of_memory)
  void open(std::string file, std::uint32_t rank, log_ptr reports);

  /// Writes a call tree. Before any thread records. \throws as call_tree's constructor
  void open_tree(const std::string& file, std::uint32_t rank, std::uint64_t messages);

  /// Whether there is a trace or a call tree: messages then take no short path.
  bool on() const noexcept { return on_; }
  /// For steps. Null: there is none.
  call_tree* tree() const noexcept { return tree_.get(); }

  /// Records an event. \param peer,size of the message
  void instant(kind what, std::uint32_t peer, std::uint64_t size) noexcept {
    if (on_) [[unlikely]]
      record_now(phase::instant, what, peer, 0, size);
  }

  /// Records the beginning of a span that ends elsewhere. \param id distinguishes it from others
  /// with the same peer
  void begin(kind what, std::uint32_t peer, std::uint16_t id, std::uint64_t size) noexcept {
    if (on_) [[unlikely]]
      record_now(phase::begin, what, peer, id, size);
  }
  void end(kind what, std::uint32_t peer, std::uint16_t id) noexcept {
    if (on_) [[unlikely]]
      record_now(phase::end, what, peer, id, 0);
  }

  /// Records a span of this thread, which may be empty.
  /// \param count events that woke it, or passes that it made
  void slice(kind what, moment from, moment until, std::uint64_t count) noexcept {
    if (on_ && from < until) [[unlikely]]
      record_slice(what, from, until, count);
  }

  /// Records a span of a state of progress, on a track of its own.
  void slice(progress_state what, moment from, moment until) noexcept {
    if (events_ && from < until) [[unlikely]]
      record({from, until, static_cast<std::uint64_t>(what), 0, no_thread, 0, kind::state,
              phase::slice});
  }

 private:
  enum class phase : std::uint8_t { instant, begin, end, slice };
  struct event {
    moment at;
    moment until;        // slices only
    std::uint64_t size;  // of the message; for a slice its count, or the state
    std::uint32_t peer;
    std::int32_t thread;
    std::uint16_t id;
    kind what;
    phase how;
  };
  static constexpr std::size_t capacity = std::size_t{1} << 17;
  static constexpr std::int32_t no_thread = 0;

  void record_slice(kind what, moment from, moment until, std::uint64_t count) noexcept;
  // Out of line: while the trace is off, a hook is a load and a branch.
  void record_now(phase how, kind what, std::uint32_t peer, std::uint16_t id,
                  std::uint64_t size) noexcept;
  void record(const event& e) noexcept;
  void note(phase how, kind what, std::uint32_t peer, std::uint64_t size) noexcept;
  static std::int32_t this_thread() noexcept;
  bool write() const noexcept;

  bool on_ = false;
  std::unique_ptr<call_tree> tree_;  // null: there is none
  std::unique_ptr<event[]> events_;  // null: there is no trace
  std::uint64_t recorded_ = 0;       // since the beginning; the ring holds the last of them
  std::string file_;
  std::uint32_t rank_ = 0;
  log_ptr log_;  // null: there is no trace
};

}  // namespace weft::runtime
