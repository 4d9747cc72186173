// SPDX-License-Identifier: Apache-2.0
// The waits for flags of an engine, which it polls in each pass.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/flags/flag_segment.hpp"

namespace weft::runtime {

class completion_queue;

/// The engine, as waits for flags see it. Any thread, without the progress lock.
class flag_wait_service {
 public:
  /// \return true: it has ended, and its status is set
  virtual bool start(flag_operation& op) noexcept = 0;
  virtual void cancel(flag_operation& op) noexcept = 0;

 protected:
  ~flag_wait_service() = default;
};

/// All waits of an engine, by their segments. Owned by the engine. Progress lock held.
class flag_waits {
 public:
  explicit flag_waits(completion_queue& c) noexcept : completions_(c) {}
  flag_waits(const flag_waits&) = delete;
  flag_waits& operator=(const flag_waits&) = delete;

  bool any() const noexcept { return first_ != nullptr; }
  /// Ends the waits whose flags have come. \return how many
  unsigned poll() noexcept;

  /// A thread is about to sleep: tells the members that raise flags. Ahead of the doorbell's fence.
  /// \param caller the thread inside run(), for all waits; else the progress thread, for those
  ///               whose coroutines are on other executors
  void announce(bool caller) noexcept;
  /// That thread, or the one that it slept for, polls again.
  void withdraw() noexcept {
    if (announced_) [[unlikely]]
      withdraw_all();
  }
  /// After the doorbell's fence.
  bool any_has_come() noexcept;

  /// \return false: the wait has ended, and its status is set; else it is pending
  bool add(flag_operation& op) noexcept;
  /// \return whether it was pending, and has ended now
  bool cancel(flag_operation& op) noexcept;
  /// Waits for flags of that segment end with this error from now on, but for those whose flags
  /// have come. The first call counts.
  /// \param text cause and cure; null: the sentence of the error
  void fail(flag_segment& s, errc why, std::shared_ptr<const std::string> text = {}) noexcept;
  /// Before the segment goes: it has no waits.
  void forget(flag_segment& s) noexcept;

  /// A flag that a wait lacks.
  struct lacking {
    std::uint32_t flag;
    std::uint64_t value;
  };
  /// Of the oldest wait of the segment; nothing: there is none.
  static std::optional<lacking> lacks(const flag_segment& s) noexcept;
  static bool any(const flag_segment& s) noexcept { return s.waiting_ != nullptr; }
  /// Whether a wait lacks one of the flags n, n + step, n + 2 step...
  static bool lacks(const flag_segment& s, std::uint32_t n, std::uint32_t step) noexcept;

 private:
  static bool look(flag_operation& op) noexcept;
  unsigned poll(flag_segment& s) noexcept;
  void end(flag_operation& op, errc status) noexcept;
  void withdraw_all() noexcept;

  completion_queue& completions_;
  flag_segment* first_ = nullptr;  // the segments that have waits, or had some lately
  bool announced_ = false;
};

}  // namespace weft::runtime
