// SPDX-License-Identifier: Apache-2.0
// Memory that processes of one host share, with flags that they await.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <weft/operations/flags.hpp>

#include "runtime/descriptors/memory_file.hpp"
#include "runtime/flags/layout.hpp"
#include "runtime/sleep/doorbell.hpp"

namespace weft::runtime {

/// One member's view of a flag segment. A member raises a flag by a store, and the others see it by
/// a load, so that it moves although no thread of weft runs; only members that sleep are rung.
///
///     MEMBER that waits                        MEMBER that raises
///     announce: asleep, sleepers               writes the bytes, then the value
///     heavy_fence                              reads `sleepers`
///     looks once more, sleeps                  not zero: fence, rings those whose wait has ended
///
/// Who lies in this memory harms its members only: every number is checked before it is used.
/// Owned by its user; all waits have ended before it goes. Model: tests/models/flag.pml.
class flag_segment {
 public:
  /// The first member makes the memory. \throws weft::error (system)
  static unique_fd make(const flag_layout& l);

  /// Maps the memory, and joins as a member.
  /// \param l       as the first member chose it
  /// \param self    which member this is
  /// \param own     its doorbell, which outlives the segment; null: this member never sleeps
  /// \throws weft::error (protocol_error, system): nothing is joined
  flag_segment(const unique_fd& memory, const flag_layout& l, std::uint32_t self, doorbell* own);
  flag_segment(const flag_segment&) = delete;
  flag_segment& operator=(const flag_segment&) = delete;
  ~flag_segment();

  std::uint32_t members() const noexcept { return layout_.members; }
  std::uint32_t self() const noexcept { return self_; }
  std::uint32_t flags() const noexcept { return layout_.flags; }
  /// Whether every member has joined. Any thread, as all functions that do not say otherwise.
  bool is_whole() noexcept {
    if (whole_.load(std::memory_order_acquire)) [[likely]]
      return true;
    return look_whether_whole();
  }
  /// A member cannot join: nobody uses the segment.
  void refuse() noexcept;
  bool is_refused() const noexcept { return header_->refused.load(std::memory_order_acquire) != 0; }
  /// Whether that member has, as far as its own word tells.
  bool has_joined(std::uint32_t member) const noexcept {
    return members_[member].asleep.load(std::memory_order_relaxed) != 0;
  }

  flag& at(std::uint32_t n) noexcept { return flags_[n]; }
  const flag& at(std::uint32_t n) const noexcept { return flags_[n]; }
  std::span<std::byte> user_memory() const noexcept { return user_; }

  /// Gives a flag of this member its next value, after what was written before. One thread raises a
  /// flag at a time.
  void raise(flag& f, std::uint64_t value) noexcept {
    f.value.store(value, std::memory_order_release);
    tell_sleepers();
  }
  /// The same for a flag that several may raise at once: its value becomes that one, unless it is
  /// higher already.
  void raise_to(flag& f, std::uint64_t value) noexcept;
  /// \return the former value
  std::uint64_t add(flag& f, std::uint64_t by) noexcept {
    const std::uint64_t before = f.value.fetch_add(by, std::memory_order_acq_rel);
    tell_sleepers();
    return before;
  }
  /// After a flag of this member got its next value in another way.
  void tell_sleepers() noexcept {
    if (header_->must_fence.load(std::memory_order_relaxed) != 0) [[unlikely]]
      std::atomic_thread_fence(std::memory_order_seq_cst);
    // The fence of a sleeping member orders what the processor does, and not what the compiler
    // does.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (header_->sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      ring_sleepers();
  }

  /// Whether these flags have that value, or a higher one.
  bool have(flag_range r, std::uint64_t value) const noexcept {
    for (std::uint32_t n = r.first; n != r.first + r.count; ++n)
      if (flags_[n].value.load(std::memory_order_acquire) < value) return false;
    return true;
  }

 private:
  friend class flag_waits;

  bool look_whether_whole() noexcept;
  void ring_sleepers() noexcept;
  bool is_awaited_by(const flag_member& m) const noexcept;
  void announce(flag_range r, std::uint64_t value, bool caller) noexcept;
  void withdraw() noexcept;

  const flag_layout layout_;
  const std::uint32_t self_;
  mapping mapping_;
  flag_header* header_;
  flag_member* members_;
  flag* flags_;
  std::span<std::byte> user_;
  wakeup_sender bell_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> rung_;  // the `asleep` of each that was rung for
  std::atomic<bool> whole_{false};

  // Of flag_waits. Progress lock held.
  flag_operation* waiting_ = nullptr;  // the oldest one
  flag_segment* after_ = nullptr;      // in the list of segments
  bool is_listed_ = false, announced_ = false;
  errc failed_ = errc::ok;                  // waits end with it
  std::shared_ptr<const std::string> why_;  // and say this; null: nothing in particular
};

}  // namespace weft::runtime
