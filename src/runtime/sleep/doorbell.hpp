// SPDX-License-Identifier: Apache-2.0
// How peers wake a process that does not poll.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/descriptors/event_fd.hpp"
#include "runtime/descriptors/fd.hpp"
#include "runtime/descriptors/memory_file.hpp"
#include "runtime/descriptors/remote_wakeup.hpp"

namespace weft::runtime {

/// The part of a process's doorbell that peers see. Only its owner writes the page: peers can map
/// it read-only and nothing else (F_SEAL_FUTURE_WRITE), so that no peer can silence another's bell.
/// Both words count up by fours above a state of two bits; odd means "ring me", and a peer rings
/// once per odd value.
struct doorbell_page {
  static constexpr std::uint32_t expected_magic = 0x77656632;  // "wef2"

  /// Odd: every message rings. The states name the sleeping thread: 1 the thread inside run(), 3
  /// the progress thread in its place. Written when a thread goes to sleep in this way and when it
  /// wakes, so that a sender, which reads it per message, keeps it in its cache.
  alignas(64) std::atomic<std::uint32_t> asleep;
  static constexpr std::uint32_t no_thread = 0, caller_sleeps = 1, progress_listens = 3;

  /// Odd: the application's thread computes with operations outstanding, and the progress thread
  /// sleeps. Only frames that need a reaction ring (handshakes, a full ring).
  alignas(64) std::atomic<std::uint32_t> computing;

  alignas(64) std::uint32_t magic;
  std::uint32_t sender_must_fence;  ///< nonzero: the owner cannot use heavy_fence
  /// Not zero: ringing while `computing` helps. `acts_on_ends`: also for frames that only end an
  /// operation, because an external loop may have its next step behind it.
  std::atomic<std::uint32_t> has_progress_thread;
  static constexpr std::uint32_t acts_on_ends = 2;
  wakeup_address caller_bell;    ///< rung for `asleep` in state 1
  wakeup_address progress_bell;  ///< rung for `computing`, and for `asleep` in state 3
};

/// The owner's side. Owned by the engine; the words are written with the progress lock held, any
/// thread rings the events.
class doorbell {
 public:
  /// \throws weft::error (system) when the kernel gives no memfd or eventfd
  /// \param names of the bells that peers ring
  explicit doorbell(bool has_progress_thread, socket_folder names = {});
  doorbell(const doorbell&) = delete;
  doorbell& operator=(const doorbell&) = delete;

  /// Announces sleep to senders. The caller must poll once more: that poll sees the message of
  /// every sender that does not see the announcement. Model: tests/models/doorbell.pml.
  void arm_asleep() noexcept { arm(doorbell_page::caller_sleeps); }
  /// The same for the progress thread, on behalf of coroutines on other executors.
  void arm_listening() noexcept { arm(doorbell_page::progress_listens); }
  void disarm_asleep() noexcept { raise(page_->asleep, doorbell_page::no_thread); }

  /// Announces that the caller computes. `heavy` false: a hint without a fence, for a thread that
  /// goes on to user code and cannot afford one. Model: tests/models/computing.pml.
  void arm_computing(bool heavy) noexcept;
  void disarm_computing() noexcept { raise(page_->computing, 0); }
  bool is_computing() const noexcept { return odd(page_->computing); }
  /// An external loop begins or ends: the progress thread, too, goes on where an operation has
  /// ended.
  void act_on_ends(bool on) noexcept {
    if (page_->has_progress_thread.load(std::memory_order_relaxed) != 0)
      page_->has_progress_thread.store(on ? doorbell_page::acts_on_ends : 1,
                                       std::memory_order_relaxed);
  }
  /// A word that changes with each departure and return; any thread.
  std::uint32_t computing_word() const noexcept {
    return page_->computing.load(std::memory_order_relaxed);
  }

  /// The descriptor that peers get a duplicate of: its seal lets them map it for reading only.
  int page_fd() const noexcept { return memory_.get(); }

  /// For threads of this process; never handed to another process.
  event_fd& caller_bell() noexcept { return caller_; }
  event_fd& progress_bell() noexcept { return progress_; }

  /// For peers.
  wakeup_receiver& caller_wakeup() noexcept { return caller_wakeup_; }
  wakeup_receiver& progress_wakeup() noexcept { return progress_wakeup_; }
  /// By which this process rings peers.
  wakeup_sender& to_peers() noexcept { return to_peers_; }
  const socket_folder& names() const noexcept { return names_; }
  bool fences_senders() const noexcept { return !must_fence_; }

 private:
  void fence_senders() noexcept;
  static bool odd(const std::atomic<std::uint32_t>& w) noexcept {
    return (w.load(std::memory_order_relaxed) & 1) != 0;
  }
  /// Moves a word up to a new value of that state. Arming again gives a new odd value, so that
  /// peers that have rung for the old one ring again.
  static void raise(std::atomic<std::uint32_t>& w, std::uint32_t state) noexcept {
    const std::uint32_t now = w.load(std::memory_order_relaxed);
    if (state == 0 && (now & 1) == 0) return;
    w.store((now & ~3u) + 4 + state, std::memory_order_relaxed);
  }
  void arm(std::uint32_t state) noexcept;

  unique_fd memory_;
  mapping mapping_;
  doorbell_page* page_ = nullptr;
  event_fd caller_;
  event_fd progress_;
  const socket_folder names_;
  wakeup_receiver caller_wakeup_{names_};
  wakeup_receiver progress_wakeup_{names_};
  wakeup_sender to_peers_{names_};
  bool must_fence_ = false;
};

/// The doorbell of a peer, for this process. Owned by a link; used with the progress lock held.
class remote_doorbell {
 public:
  /// Checks the page that the peer sent, and maps it read-only. The peer may change its words
  /// later, and name bells that are not its own; the result is only a ring too many or too few.
  /// \param by what rings the peer; it must outlive this object
  /// \throws weft::error (protocol_error) naming what is wrong with it
  remote_doorbell(const unique_fd& page, wakeup_sender& by);
  remote_doorbell(const remote_doorbell&) = delete;
  remote_doorbell& operator=(const remote_doorbell&) = delete;

  /// A fence between a write of a word that the peer reads before it sleeps and a read of a word of
  /// the peer, where the peer cannot make this process's fences. The peer's fences order what the
  /// processor does, and not what the compiler does.
  void fence_if_needed() const noexcept {
    if (must_fence_) std::atomic_thread_fence(std::memory_order_seq_cst);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  /// Called after a message was written: one load from a line that hardly ever changes.
  /// \return whether it rang
  bool ring_if_asleep() noexcept {
    fence_if_needed();
    const std::uint32_t now = page_->asleep.load(std::memory_order_relaxed);
    if ((now & 1) == 0 || now == rung_asleep_) [[likely]]
      return false;
    ring_sleeper(now);
    return true;
  }

  /// The peer's application computes with operations outstanding.
  bool computing() const noexcept {
    return (page_->computing.load(std::memory_order_relaxed) & 1) != 0;
  }
  bool has_progress_thread() const noexcept { return progress_helps_; }
  /// Whether it has something to do when an operation of the peer ends.
  bool acts_on_ends() const noexcept {
    return page_->has_progress_thread.load(std::memory_order_relaxed) ==
           doorbell_page::acts_on_ends;
  }

  /// Called after a frame that needs the peer's reaction.
  bool ring_if_computing() noexcept {
    if (!progress_helps_) return false;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::uint32_t now = page_->computing.load(std::memory_order_relaxed);
    if ((now & 1) == 0 || now == rung_computing_) return false;
    return ring_computing(now);
  }

  /// How often this process has rung the peer.
  std::uint64_t rung() const noexcept { return rung_; }

  /// Set when this process could not join heavy fences, or the peer cannot make them.
  void fence_always() noexcept { must_fence_ = true; }

 private:
  void ring_sleeper(std::uint32_t asleep) noexcept;
  bool ring_computing(std::uint32_t computing) noexcept;

  mapping mapping_;
  const doorbell_page* page_ = nullptr;
  std::uint32_t rung_asleep_ = 0;
  std::uint32_t rung_computing_ = 0;
  std::uint64_t rung_ = 0;
  bool must_fence_ = false;
  bool progress_helps_ = false;
  wakeup_sender& by_;
  const wakeup_address caller_, progress_;
};

}  // namespace weft::runtime
