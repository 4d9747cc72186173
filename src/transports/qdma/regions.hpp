// SPDX-License-Identifier: Apache-2.0
// Memory that is shown to others: the region directory of regions, and the arena that they map.
#pragma once

#include <map>
#include <span>
#include <vector>

#include <weft/qdma.hpp>

#include "runtime/memory_file.hpp"
#include "transports/qdma/receive_queue.hpp"
#include "transports/qdma/wire.hpp"
#include "transports/transport.hpp"

namespace weft::transports::qdma {

/// What a region's record says, copied out of it.
struct region_view {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  bool in_arena = false;
};

/// Looks a key up. \param need the right; none: whatever they are
/// \return nullptr and `view`, or why not, for people
const char* find_region(const region_directory& c, std::uint64_t key, std::uint64_t offset,
                        std::uint64_t size, weft::qdma::rights need, region_view& view) noexcept;

/// The index of the record that a key names; region_count: none.
std::uint32_t record_of(std::uint64_t key) noexcept;

/// How a region is named in the 64 bits of a rendezvous: its record, 16 bits of its generation, and
/// 32 of an offset, so that offsets add up.
remote_address name_of(std::uint64_t key) noexcept;
inline constexpr std::uint64_t most_exposed = std::uint64_t{1} << 32;  // bytes in one piece
/// The offset within the region that such a name holds.
constexpr std::uint64_t offset_of(remote_address a) noexcept { return a.offset & 0xffffffff; }
/// The key that a name means in that region directory; 0: none, or none any more.
std::uint64_t key_named(const region_directory& c, remote_address a) noexcept;

/// Says in the shared segment of the region's owner that this process copies there, for a scope: an
/// owner that takes the region back waits for that, or it was taken back before, which a look at
/// the region directory under this hold shows.
class region_hold {
 public:
  region_hold(segment_memory& segment, std::uint64_t key, vpid me) noexcept;
  ~region_hold() {
    if (mine_) mine_->store(0, std::memory_order_release);
  }
  region_hold(const region_hold&) = delete;
  region_hold& operator=(const region_hold&) = delete;
  /// False: as many as can hold it at once do; try again.
  explicit operator bool() const noexcept { return mine_ != nullptr; }

 private:
  std::atomic<vpid>* mine_ = nullptr;
};

/// This process's regions. Progress lock held, but for is_held.
class own_regions {
 public:
  /// \param arena_bytes address space for what `allocate` gives; pages come when they are touched
  /// \throws weft::error (system)
  explicit own_regions(std::size_t arena_bytes);

  /// \return the key \throws weft::error (out_of_memory)
  std::uint64_t add(std::span<std::byte> memory, weft::qdma::rights permissions);
  /// Whether others have the right to write there.
  bool may_write(std::uint64_t key) const noexcept;
  /// Nobody finds it any more. Those that found it may still copy: see is_held.
  void withdraw(std::uint64_t key) noexcept;

  /// Whether somebody who lives still copies there. Any thread, after `withdraw`, and before
  /// `retire`, which lets the record be used again.
  static bool is_held(const segment_memory& segment, std::uint64_t key,
                      const sender_table& t) noexcept;
  void retire(std::uint64_t key, segment_memory& segment) noexcept;

  /// Where this process finds bytes of its own region. \return null, and `why`
  std::byte* find(std::uint64_t key, std::uint64_t offset, std::uint64_t size,
                  const char*& why) const noexcept;

  /// \throws weft::error (out_of_memory)
  std::span<std::byte> allocate(std::size_t size);
  void free(std::span<std::byte> memory) noexcept;

  const region_directory& catalog() const noexcept { return *directory_; }
  /// What this process says of its own queues, and of what it has read.
  queue_progress& progress_of(std::uint32_t queue) noexcept { return directory_->queue[queue]; }
  stage_progress& stage_of(std::uint32_t index) noexcept { return directory_->stage[index]; }
  int catalog_fd() const noexcept { return directory_file_.get(); }
  int arena_fd() const noexcept { return arena_file_.get(); }
  std::size_t arena_bytes() const noexcept { return arena_.size(); }

 private:
  runtime::unique_fd directory_file_, arena_file_;
  runtime::mapping directory_mapping_, arena_;
  region_directory* directory_;
  std::vector<std::uint32_t> free_records_;
  std::uint32_t next_generation_;
  std::map<std::size_t, std::size_t> gaps_;   // of the arena: offset, bytes
  std::map<std::size_t, std::size_t> taken_;  // the same
};

}  // namespace weft::transports::qdma
