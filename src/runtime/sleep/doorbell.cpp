// SPDX-License-Identifier: Apache-2.0
#include "runtime/sleep/doorbell.hpp"

#include <new>

#include <weft/error.hpp>

#include "runtime/descriptors/memory_file.hpp"
#include "runtime/os/membarrier.hpp"
#include "runtime/os/pause.hpp"

namespace weft::runtime {

namespace {

// Longer than a resumed coroutine needs to post its next operation, and a small part of what a
// wake-up costs. A pause takes 10 to 45 ns, by processor.
constexpr int pauses_between_polls = 16;

constexpr std::size_t page_size = 4096;
static_assert(sizeof(doorbell_page) <= page_size);

const doorbell_page* checked(const mapping& memory) {
  const auto* page = static_cast<const doorbell_page*>(memory.get());
  if (page->magic != doorbell_page::expected_magic)
    throw error(errc::protocol_error,
                "the peer's doorbell page is not one of this version of weft; use the same "
                "version on both sides");
  return page;
}
}  // namespace

doorbell::doorbell(bool has_progress_thread, socket_folder names)
    : memory_(make_memory_file("weft-doorbell", page_size)), names_(std::move(names)) {
  mapping own = map_own(memory_, page_size);
  seal_for_readers(memory_);
  must_fence_ = !join_heavy_fences() || !heavy_fence();
  // cppcheck-suppress noDestructor ; what is made here lies in the mapping
  page_ = new (own.get()) doorbell_page{};
  page_->magic = doorbell_page::expected_magic;
  page_->sender_must_fence = must_fence_ ? 1 : 0;
  page_->has_progress_thread = has_progress_thread ? 1 : 0;
  page_->caller_bell = caller_wakeup_.address();
  page_->progress_bell = progress_wakeup_.address();
  mapping_ = std::move(own);
}

void doorbell::arm(std::uint32_t state) noexcept {
  raise(page_->asleep, state);
  fence_senders();
}

void doorbell::arm_computing(bool heavy) noexcept {
  raise(page_->computing, 1);
  // What the caller reads next it reads later: the progress thread's heavy fence relies on it.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (heavy) fence_senders();
}

/// Senders that were not told to fence rely on this fence, also when the kernel refuses it later
/// on.
void doorbell::fence_senders() noexcept {
  if (!heavy_fence() && !must_fence_) settle();
}

remote_doorbell::remote_doorbell(const unique_fd& page, wakeup_sender& by)
    : mapping_(map_from_peer(page, page_size, false)),
      page_(checked(mapping_)),
      by_(by),
      caller_(page_->caller_bell),
      progress_(page_->progress_bell) {
  must_fence_ = page_->sender_must_fence != 0;
  progress_helps_ = page_->has_progress_thread != 0;
}

/// \param asleep the word for which it rings
[[gnu::cold]] void remote_doorbell::ring_sleeper(std::uint32_t asleep) noexcept {
  rung_asleep_ = asleep;
  by_.ring((asleep & 2) != 0 ? progress_ : caller_);
  ++rung_;
}

/// A caller that is only between two polls is back within a moment, and then reads the frame.
/// Waking the progress thread would cost it a context switch and the bias of its progress lock: two
/// processes that exchange messages in lockstep could wake each other for every message.
/// \param computing the word for which it rings
[[gnu::cold]] bool remote_doorbell::ring_computing(std::uint32_t computing) noexcept {
  for (int i = 0; i < pauses_between_polls; ++i) {
    cpu_pause();
    if (page_->computing.load(std::memory_order_relaxed) != computing) return false;
  }
  rung_computing_ = computing;
  by_.ring(progress_);
  ++rung_;
  return true;
}

}  // namespace weft::runtime
