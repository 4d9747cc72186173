// SPDX-License-Identifier: Apache-2.0
// Regions from weft's own allocator: both sides map them, so one copy is enough.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/descriptors/memory_file.hpp"
#include "transports/shm/wire.hpp"

namespace weft::transports::shm {

/// Limits for the regions of one process at another, so that a peer cannot use up the mappings or
/// the address space of this process. The owner of the regions keeps to them: shown_regions.
inline constexpr std::size_t most_shown_regions = 1024;
inline constexpr std::size_t most_shown_bytes = std::size_t{1} << 40;

wireup_message pack(const region_note& note);

/// This process's shared regions. Owned by the transport; progress lock held only.
class own_regions {
 public:
  struct region {
    region_name name;
    unique_fd file;
    runtime::mapping memory;
  };
  /// By the number of their allocation (their place), which is never used again.
  using regions = std::map<std::uint64_t, region>;

  /// \throws weft::error when memory, descriptors or numbers (65535) run out
  std::span<std::byte> allocate(std::size_t size);
  /// \return the region's place; 0: that memory is not a region
  std::uint64_t free(std::span<std::byte> memory) noexcept;

  /// The region that holds all of `data`; null: none does.
  const regions::value_type* find(const_buffer data) const noexcept;
  const regions& all() const noexcept { return all_; }

 private:
  regions all_;
  std::map<const std::byte*, std::uint64_t> by_address_;
  std::map<std::uint16_t, std::uint64_t> by_number_;
  std::uint64_t last_ = 0;
};

/// Which of this process's regions a peer has been shown, and which notes it has to be sent. A peer
/// that takes no notes is sent at most `most_notes_ahead`, and shown no more until it takes some.
/// Progress lock held only.
class shown_regions {
 public:
  /// Notes, each with a descriptor at most, that the peer may not have taken yet.
  static constexpr std::uint32_t most_notes_ahead = 64;

  using teller = std::function<void(wireup_message)>;

  /// Shows a region, and those that were allocated since, as far as the limits allow.
  /// \return where `data` lies, for the peer; nothing: it has not been shown
  std::optional<remote_address> expose(const_buffer data, const own_regions& all,
                                       const teller& tell);
  /// A region is gone, or about to go.
  void hide(std::uint64_t place, const teller& tell) noexcept;
  /// The peer has taken `count` notes in all.
  void taken(std::uint32_t count, const teller& tell) noexcept;

 private:
  struct shown {
    region_name name;
    std::size_t bytes = 0;
    std::uint64_t last_use = 0;
    bool gone = false;  // the peer has to be told
  };
  using shown_map = std::map<std::uint64_t, shown>;  // by place

  bool show(std::uint64_t place, const own_regions::region& r, const teller& tell);
  bool make_room(std::size_t bytes, const teller& tell);
  bool tell_gone(shown_map::iterator it, const teller& tell) noexcept;
  bool may_tell() const noexcept { return told_ - taken_ < most_notes_ahead; }

  shown_map shown_;
  std::size_t bytes_ = 0;   // of the regions in shown_
  std::uint64_t seen_ = 0;  // all places up to this have been shown
  std::uint64_t uses_ = 0;
  std::uint32_t told_ = 0, taken_ = 0;  // notes
  bool some_gone_ = false;
};

/// The regions that a peer has shown. Progress lock held only.
class peer_regions {
 public:
  /// Takes a note that shows a region or takes one back. A note that makes no sense or exceeds a
  /// limit is dropped (the peer will be asked for its data). A number that is known already is
  /// replaced.
  void learn(const region_note& note, wireup_message p) noexcept;

  /// How many notes have come, if the peer has to be told; else nothing.
  std::optional<std::uint32_t> to_tell() noexcept;

  /// Where `size` bytes at `from` are mapped here; null: not shown, or out of its bounds.
  const std::byte* find(remote_address from, std::size_t size) const noexcept;

  /// The same for bytes that are to be read; null also where the sender has never written a page.
  /// The kernel would make such a page for the read, at the cost of this process's control group,
  /// and keep it: a peer could have this process pay for all that it shows.
  const std::byte* find_written(remote_address from, std::size_t size) noexcept;

  /// As find_written, of bytes that may be read for as long as the owner is kept: the region stays
  /// mapped when the peer takes it back, or ends. Views of it do not need the progress lock to end.
  peer_view view(remote_address from, std::size_t size) noexcept;

 private:
  /// A mapping that is counted as long as anything reads there.
  struct counted {
    counted(runtime::mapping m, std::shared_ptr<std::atomic<std::size_t>> all) noexcept
        : memory(std::move(m)), bytes(std::move(all)) {
      bytes->fetch_add(memory.size(), std::memory_order_relaxed);
    }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { bytes->fetch_sub(memory.size(), std::memory_order_relaxed); }

    const runtime::mapping memory;
    const std::shared_ptr<std::atomic<std::size_t>> bytes;
  };
  struct seen {
    std::uint8_t generation = 0;
    std::shared_ptr<const void> owner;  // of a `counted`
    const runtime::mapping* memory = nullptr;
    std::uint64_t written_from = 0, written_to = 0;  // known to be: its seals keep them so
  };
  std::map<std::uint16_t, seen> mapped_;
  // Mapped in all, also of regions that the peer has taken back and that are still read.
  std::shared_ptr<std::atomic<std::size_t>> bytes_;
  std::uint32_t notes_ = 0, told_ = 0;
};

}  // namespace weft::transports::shm
