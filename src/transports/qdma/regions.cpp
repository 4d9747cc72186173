// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/regions.hpp"

#include <fmt/format.h>

#include <random>

#include <weft/error.hpp>

namespace weft::transports::qdma {

using weft::qdma::rights;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::byte* at(const runtime::mapping& m) noexcept { return static_cast<std::byte*>(m.get()); }

}  // namespace

std::uint32_t record_of(std::uint64_t key) noexcept {
  const auto low = static_cast<std::uint32_t>(key);
  return low - 1 < region_count ? low - 1 : region_count;
}

const char* find_region(const region_directory& c, std::uint64_t key, std::uint64_t offset,
                        std::uint64_t size, rights need, region_view& view) noexcept {
  const std::uint32_t index = record_of(key);
  if (index == region_count) return "no region has that key";
  const region_record& r = c.region[index];
  if (r.key.load(std::memory_order_seq_cst) != key)
    return "no region has that key; it may have been taken back";
  view = {r.base.load(relaxed), r.size.load(relaxed), r.arena.load(relaxed) != 0};
  const std::uint64_t permissions = r.rights.load(relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (r.key.load(relaxed) != key) return "the region was taken back";
  const auto needed = static_cast<std::uint64_t>(need);
  if ((permissions & needed) != needed)
    return need == rights::read ? "its owner lets nobody read that region"
                                : "its owner lets nobody write to that region";
  if (offset > view.size || size > view.size - offset) return "beyond the end of the region";
  return nullptr;
}

region_hold::region_hold(segment_memory& segment, std::uint64_t key, vpid me) noexcept {
  const std::uint32_t index = record_of(key);
  if (index == region_count) return;
  for (std::atomic<vpid>& h : segment.holders[index]) {
    vpid nobody = 0;
    if (!h.compare_exchange_strong(nobody, me)) continue;
    mine_ = &h;
    return;
  }
}

remote_address name_of(std::uint64_t key) noexcept {
  return {static_cast<std::uint16_t>(record_of(key) + 1), (key >> 32 & 0xffff) << 32};
}

std::uint64_t key_named(const region_directory& c, remote_address a) noexcept {
  if (a.region == 0 || a.region > region_count) return 0;
  const std::uint64_t key = c.region[a.region - 1].key.load(std::memory_order_acquire);
  return (key >> 32 & 0xffff) == a.offset >> 32 ? key : 0;
}

own_regions::own_regions(std::size_t arena_bytes)
    : directory_file_(runtime::make_memory_file("weft-qdma-catalog", sizeof(region_directory))),
      arena_file_(runtime::make_memory_file("weft-qdma-arena", arena_bytes)),
      directory_mapping_(runtime::map_own(directory_file_, sizeof(region_directory))),
      arena_(runtime::map_own(arena_file_, arena_bytes)),
      directory_(static_cast<region_directory*>(directory_mapping_.get())),
      next_generation_(std::random_device{}()) {
  runtime::seal_for_readers(directory_file_);
  directory_->magic = directory_magic;
  directory_->records = region_count;
  for (std::uint32_t i = region_count; i != 0; --i) free_records_.push_back(i - 1);
  gaps_.emplace(0, arena_bytes);
}

std::uint64_t own_regions::add(std::span<std::byte> memory, rights permissions) {
  if (free_records_.empty())
    throw error(
        errc::out_of_memory,
        fmt::format("a device has {} regions at most; make fewer, larger ones", region_count));
  const std::uint32_t index = free_records_.back();
  free_records_.pop_back();
  region_record& r = directory_->region[index];
  const bool ours = memory.data() >= at(arena_) && memory.data() < at(arena_) + arena_.size();
  r.base.store(ours ? static_cast<std::uint64_t>(memory.data() - at(arena_))
                    : reinterpret_cast<std::uintptr_t>(memory.data()),
               relaxed);
  r.size.store(memory.size(), relaxed);
  r.rights.store(static_cast<std::uint64_t>(permissions), relaxed);
  r.arena.store(ours ? 1 : 0, relaxed);
  if (++next_generation_ == 0) ++next_generation_;
  const std::uint64_t key = std::uint64_t{next_generation_} << 32 | (index + 1);
  r.key.store(key, std::memory_order_release);
  return key;
}

bool own_regions::may_write(std::uint64_t key) const noexcept {
  region_view v;
  return !find_region(*directory_, key, 0, 0, rights::write, v);
}

void own_regions::withdraw(std::uint64_t key) noexcept {
  directory_->region[record_of(key)].key.store(0, std::memory_order_seq_cst);
  // The owner's later stores, to the memory and to the record, are seen after that one: a reader
  // that has seen any of them finds the key cleared (find_region, peer::came_in_time).
  std::atomic_thread_fence(std::memory_order_release);
}

/// This function and region_hold both write first and then read, with full fences, so one sees the
/// other.
bool own_regions::is_held(const segment_memory& segment, std::uint64_t key,
                          const sender_table& t) noexcept {
  for (const std::atomic<vpid>& h : segment.holders[record_of(key)])
    if (const vpid who = h.load(std::memory_order_seq_cst); who != 0 && t.lives(who)) return true;
  return false;
}

void own_regions::retire(std::uint64_t key, segment_memory& segment) noexcept {
  const std::uint32_t index = record_of(key);
  for (std::atomic<vpid>& h : segment.holders[index]) h.store(0, relaxed);
  free_records_.push_back(index);  // cannot throw: there was room for all
}

std::byte* own_regions::find(std::uint64_t key, std::uint64_t offset, std::uint64_t size,
                             const char*& why) const noexcept {
  region_view v;
  why = find_region(*directory_, key, offset, size, rights::none, v);
  if (why) return nullptr;
  return (v.in_arena ? at(arena_) + v.base : reinterpret_cast<std::byte*>(v.base)) + offset;
}

std::span<std::byte> own_regions::allocate(std::size_t size) {
  const std::size_t whole = size > arena_.size() ? 0 : (size + line - 1) / line * line;
  for (auto gap = gaps_.begin(); whole != 0 && gap != gaps_.end(); ++gap) {
    const auto [offset, bytes] = *gap;
    if (bytes < whole) continue;
    taken_.emplace(offset, whole);
    if (bytes > whole) gaps_.emplace(offset + whole, bytes - whole);
    gaps_.erase(gap);
    return {at(arena_) + offset, size};
  }
  throw error(errc::out_of_memory,
              fmt::format("no {} bytes in a row are left of the {} that a device allocates its "
                          "regions from; register memory of your own",
                          size, arena_.size()));
}

void own_regions::free(std::span<std::byte> memory) noexcept {
  const auto known = taken_.find(static_cast<std::size_t>(memory.data() - at(arena_)));
  if (known == taken_.end()) return;
  const std::size_t offset = known->first;
  // The node moves to the other map, so that nothing is allocated here.
  auto node = taken_.extract(known);
  auto gap = gaps_.insert(std::move(node)).position;
  if (const auto next = std::next(gap);
      next != gaps_.end() && offset + gap->second == next->first) {
    gap->second += next->second;
    gaps_.erase(next);
  }
  if (gap != gaps_.begin())
    if (const auto before = std::prev(gap); before->first + before->second == offset) {
      before->second += gap->second;
      gaps_.erase(gap);
    }
}

}  // namespace weft::transports::qdma
