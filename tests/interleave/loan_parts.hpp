// SPDX-License-Identifier: Apache-2.0
// What loans need of the engine and of a peer, for scenarios: the progress lock is the real one.
// What is counted under it without locked instructions is plain_count, which shows a missing lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include <weft/coro/detail/run_loop.hpp>
#include <weft/operations/loans.hpp>

#include "proto/frames/frames.hpp"
#include "runtime/lock/progress_lock.hpp"
#include "scheduler.hpp"

namespace loans {

/// Code that may not throw finds faults, so the scenario looks at the end.
inline const char* fault = nullptr;
inline void note(bool holds, const char* what) noexcept {
  if (!holds && !fault) fault = what;
}
inline void expect_no_fault() { interleave::expect(!fault, fault); }

/// A number that no lock protects by itself: each change is a load and a store.
class plain_count {
 public:
  plain_count(std::size_t n) noexcept : n_(n) {}  // NOLINT: as the number
  operator std::size_t() const noexcept { return n_.load(std::memory_order_relaxed); }
  plain_count& operator=(std::size_t n) noexcept {
    n_.store(n, std::memory_order_relaxed);
    return *this;
  }
  std::size_t operator++() noexcept { return *this = *this + 1; }
  std::size_t operator--() noexcept { return *this = *this - 1; }

 private:
  interleave::atomic<std::size_t> n_;
};

/// The thread inside run(), known by its stack, since all threads of a scenario are one.
inline std::uintptr_t home_stack = 0;
inline std::uintptr_t stack_now() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}
inline void begin_home() noexcept { home_stack = stack_now(); }
inline bool at_home() noexcept {
  constexpr std::uintptr_t reach = 32 * 1024;
  const std::uintptr_t now = stack_now();
  return now <= home_stack && home_stack - now < reach;
}

/// At the begin of a run.
inline void begin_run() noexcept {
  fault = nullptr;
  home_stack = 0;
}

}  // namespace loans

namespace weft::runtime {

class fork_mark {
 public:
  fork_mark() noexcept {}
  bool is_inherited() const noexcept { return false; }
};

class engine final : public detail::run_loop {
 public:
  void run_until_done(const std::atomic<bool>&) noexcept override {}
  bool is_inherited() const noexcept { return false; }
  bool is_held() const noexcept { return held_; }  ///< by a thread
  void enter() noexcept {
    loans::note(!ended_, "the engine is used after its end");
    if (loans::at_home())
      lock_.lock_biased();
    else
      lock_.take();
    held_ = true;
  }
  void leave() noexcept {
    loans::note(!ended_, "the engine is used after its end");
    held_ = false;
    if (loans::at_home())
      lock_.unlock_biased();
    else
      lock_.give();
  }
  class holder {
   public:
    explicit holder(engine& e) noexcept : engine_(e) { engine_.enter(); }
    ~holder() { engine_.leave(); }
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;

   private:
    engine& engine_;
  };
  void pending(const operation&) noexcept {}
  void end(operation& op, errc how) noexcept { op.status = how; }
  /// Its memory is gone from now on.
  void destroy() noexcept { ended_ = true; }

  /// The engine of the thread, if it is inside run().
  static detail::run_loop* here(detail::run_loop* home) noexcept {
    return loans::at_home() ? home : nullptr;
  }

 private:
  progress_lock lock_;
  bool held_ = false;
  bool ended_ = false;
};

}  // namespace weft::runtime

namespace weft::proto {

struct loan_message;

/// The peer keeps the messages that it is sent, and counts the answers.
class peer {
 public:
  peer(runtime::engine& e, peer_id n) noexcept : engine_(e), id_(n) {}

  runtime::engine& engine() const noexcept { return engine_; }
  peer_id id() const noexcept {
    loans::note(!gone, "a peer is asked after its end");
    return id_;
  }
  bool has_ended() const noexcept { return ended; }
  peer& writer() noexcept { return *this; }
  peer& sender() noexcept { return *this; }
  void cancel(send_operation&) noexcept {}
  void send_quietly(frame_kind kind, std::uint64_t number) noexcept {
    loans::note(engine_.is_held(), "a peer is used without the progress lock");
    loans::note(!ended, "a peer that has ended is sent an answer");
    loans::note(kind == frame_kind::fin_ack, "another frame is sent");
    loans::note(++answers[number] == 1, "a message is answered twice");
  }
  bool start(send_operation& op) noexcept;

  bool ended = false;
  bool gone = false;  // and so is its object
  std::map<std::uint64_t, int> answers;
  loan_message* lent = nullptr;  // on its way to its reader

 private:
  runtime::engine& engine_;
  const peer_id id_;
};

}  // namespace weft::proto
