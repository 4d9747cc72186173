// SPDX-License-Identifier: Apache-2.0
// Memory that peers may reach: the region directory, and the arena that they map.
#pragma once

#include <map>
#include <span>
#include <vector>

#include <weft/qdma.hpp>
#include <weft/transport/transport.hpp>

#include "runtime/descriptors/memory_file.hpp"
#include "transports/qdma/receive_queue.hpp"
#include "transports/qdma/wire.hpp"

namespace weft::transports::qdma {

/// The contents of a region's record, copied out of it.
struct region_view {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  bool in_arena = false;
};

/// Looks a key up. \param need the required right; none: any rights will do
/// \return nullptr and `view`, or why not, for people
const char* find_region(const region_directory& c, std::uint64_t key, std::uint64_t offset,
                        std::uint64_t size, weft::qdma::rights need, region_view& view) noexcept;

/// The index of the record that a key names; region_count: none.
std::uint32_t record_of(std::uint64_t key) noexcept;

/// The name of a region in the 64 bits of a rendezvous: its record, 16 bits of its generation, and
/// 32 of an offset, so that offsets add up.
remote_address name_of(std::uint64_t key) noexcept;
inline constexpr std::uint64_t most_exposed = std::uint64_t{1} << 32;  // bytes in one piece
/// The offset within the region, from such a name.
constexpr std::uint64_t offset_of(remote_address a) noexcept { return a.offset & 0xffffffff; }
/// The key of the named region in that region directory; 0: none, or taken back.
std::uint64_t key_named(const region_directory& c, remote_address a) noexcept;

/// Records in the shared segment of the region's owner that this process copies there, for a scope.
/// An owner that takes the region back waits for the end of the hold; or it took the region back
/// before, and a read of the region directory under this hold shows that.
class region_hold {
 public:
  region_hold(segment_memory& segment, std::uint64_t key, vpid me) noexcept;
  ~region_hold() {
    if (mine_) mine_->store(0, std::memory_order_release);
  }
  region_hold(const region_hold&) = delete;
  region_hold& operator=(const region_hold&) = delete;
  /// False: the region has as many holds as it can; try again.
  explicit operator bool() const noexcept { return mine_ != nullptr; }

 private:
  std::atomic<vpid>* mine_ = nullptr;
};

/// This process's regions. Progress lock held, but for is_held.
class own_regions {
 public:
  /// \param arena_bytes address space for `allocate`; pages are allocated when they are touched
  /// \throws weft::error (system)
  explicit own_regions(std::size_t arena_bytes);

  /// \return the key \throws weft::error (out_of_memory)
  std::uint64_t add(std::span<std::byte> memory, weft::qdma::rights permissions);
  /// Whether peers have the right to write there.
  bool may_write(std::uint64_t key) const noexcept;
  /// Lookups no longer find the region. Processes that found it may still copy: see is_held.
  void withdraw(std::uint64_t key) noexcept;

  /// Whether a living process still copies there. Any thread, after `withdraw`, and before
  /// `retire`, which lets the record be used again.
  static bool is_held(const segment_memory& segment, std::uint64_t key,
                      const sender_table& t) noexcept;
  void retire(std::uint64_t key, segment_memory& segment) noexcept;

  /// The address of bytes of this process's own region. \return null, and `why`
  std::byte* find(std::uint64_t key, std::uint64_t offset, std::uint64_t size,
                  const char*& why) const noexcept;

  /// \throws weft::error (out_of_memory)
  std::span<std::byte> allocate(std::size_t size);
  void free(std::span<std::byte> memory) noexcept;

  const region_directory& catalog() const noexcept { return *directory_; }
  /// What this process publishes about its own queues, and about the bytes that it has read.
  queue_progress& progress_of(std::uint32_t queue) noexcept { return directory_->queue[queue]; }
  stage_progress& stage_of(std::uint32_t index) noexcept { return directory_->stage[index]; }
  int catalog_fd() const noexcept { return directory_file_.get(); }
  int arena_fd() const noexcept { return arena_file_.get(); }
  std::size_t arena_bytes() const noexcept { return arena_.size(); }

 private:
  unique_fd directory_file_, arena_file_;
  runtime::mapping directory_mapping_, arena_;
  region_directory* directory_;
  std::vector<std::uint32_t> free_records_;
  std::uint32_t next_generation_;
  std::map<std::size_t, std::size_t> gaps_;   // of the arena: offset, bytes
  std::map<std::size_t, std::size_t> taken_;  // the same
};

}  // namespace weft::transports::qdma
