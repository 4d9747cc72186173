// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/peer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/os/foreign_memory.hpp"

namespace weft::transports::qdma {

using weft::qdma::rights;

namespace {
// A card that claims more address space is refused.
constexpr std::uint64_t most_arena_bytes = std::uint64_t{1} << 36;
}  // namespace

peer::peer(vpid me, const device_address_body& card, std::span<const unique_fd> fds,
           std::shared_ptr<runtime::remote_doorbell> own_bell, pid_t pid)
    : me_(me), who_(card.who), pid_(pid), doorbell_(std::move(own_bell)) {
  if (card.arena_bytes > most_arena_bytes)
    throw error(errc::protocol_error, "the peer's arena is larger than an arena can be");
  segment_mapping_ = runtime::map_from_peer(fds[0], sizeof(segment_memory), true);
  directory_mapping_ = runtime::map_from_peer(fds[1], sizeof(region_directory), false);
  segment_ = static_cast<segment_memory*>(segment_mapping_.get());
  directory_ = static_cast<const region_directory*>(directory_mapping_.get());
  if (segment_->magic != segment_magic || segment_->queues != queue_count)
    throw error(errc::protocol_error, "the peer's queues are not of this version");
  if (directory_->magic != directory_magic || directory_->records != region_count)
    throw error(errc::protocol_error, "the peer's catalog of regions is not of this version");
  for (std::uint32_t q = 0; q != queue_count; ++q)
    writers_.emplace_back(segment_->queue[q], directory_->queue[q], me);
  if (card.fences_for_itself != 0) doorbell_->fence_always();
  arena_ = runtime::map_from_peer(fds[2], card.arena_bytes, true);
  no_cma_ = runtime::try_foreign_memory(pid, card.probe_address, card.probe_value);
}

outcome peer::post(std::uint32_t queue, std::span<const std::byte> bytes) noexcept {
  queue_writer& w = writers_[queue];
  bool posted = w.post(bytes);
  if (!posted) {
    w.wish_for_room();
    posted = w.post(bytes);
  }
  if (!posted) {
    ring();  // the sender that filled the queue may have rung no thread
    return outcome::later;
  }
  w.drop_wish();
  any_unconsumed_ = true;
  ring();
  return outcome::done;
}

bool peer::ring() noexcept { return doorbell_->ring_if_asleep() || doorbell_->ring_if_computing(); }

void peer::wake_peer() noexcept {
  any_unconsumed_ = std::any_of(writers_.begin(), writers_.end(),
                                [](const queue_writer& w) { return w.unconsumed(); });
  if (any_unconsumed_) ring();
}

const char* peer::check(bool write, std::uint64_t key, std::uint64_t offset,
                        std::uint64_t size) const noexcept {
  region_view r;
  return find_region(*directory_, key, offset, size, write ? rights::write : rights::read, r);
}

bool peer::is_mapped(std::uint64_t key) const noexcept {
  region_view r;
  return !find_region(*directory_, key, 0, 0, rights::none, r) && r.in_arena;
}

/// An owner that did not wait for this hold may have used the memory anew meanwhile. It cleared the
/// key before that, so a process that has read any of the new bytes sees the cleared key.
outcome peer::came_in_time(std::uint64_t key, const char*& why) const noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);
  if (directory_->region[record_of(key)].key.load(std::memory_order_relaxed) == key)
    return outcome::done;
  why = "the region was taken back";
  return outcome::failed;
}

outcome peer::copy(bool write, std::uint64_t key, std::uint64_t offset, std::byte* here,
                   std::size_t size, const char*& why) noexcept {
  region_view r;
  const rights need = write ? rights::write : rights::read;
  if (why = find_region(*directory_, key, offset, size, need, r); why) return outcome::failed;
  const region_hold hold(*segment_, key, me_);
  if (!hold) return outcome::later;
  // Once more, under the hold.
  if (why = find_region(*directory_, key, offset, size, need, r); why) return outcome::failed;
  if (r.in_arena) {
    // The region directory was written by the peer: check it.
    if (r.base > arena_.size() || r.size > arena_.size() - r.base) {
      why = "the region lies outside of its owner's arena";
      return outcome::failed;
    }
    std::byte* there = static_cast<std::byte*>(arena_.get()) + r.base + offset;
    std::memcpy(write ? there : here, write ? here : there, size);
    return came_in_time(key, why);
  }
  if (!no_cma_.empty()) {
    why =
        "memory of the other process's own cannot be reached here; it should allocate the "
        "region from its device";
    return outcome::failed;
  }
  const int code = write ? runtime::write_foreign(pid_, r.base + offset, here, size)
                         : runtime::read_foreign(pid_, here, r.base + offset, size);
  if (code == 0) return came_in_time(key, why);
  // A process's memory goes before the process is seen to be dead.
  why = code == ESRCH ? "the process has ended" : "the kernel could not copy all of it";
  return code == ESRCH ? outcome::lost : outcome::failed;
}

}  // namespace weft::transports::qdma
