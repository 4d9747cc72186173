// SPDX-License-Identifier: Apache-2.0
// The sending end of a ring.
#pragma once

#include <optional>
#include <vector>

#include "runtime/descriptors/memory_file.hpp"
#include "runtime/sleep/doorbell.hpp"
#include "transports/shm/wire.hpp"

namespace weft::transports::shm {

class pair;

/// Writes one ring. Owned by the protocol layer's peer; the pair outlives it. Progress lock held
/// only.
class alignas(line) ring_link final : public link {
 public:
  /// Takes the mapping of the ring that it will write.
  ring_link(pair& with, runtime::mapping memory) noexcept;
  ~ring_link() override;

  std::string opened(wireup_message answer) override;
  post send(const frame_header& header, const frame_extension* extension,
            gather& data) noexcept override;
  post send_contiguous(frame_header header, const frame_extension* extension,
                       const std::byte* data) noexcept override;
  post get(scatter into, remote_address from, std::size_t size,
           std::uint64_t cookie) noexcept override;
  preference prefers_get(remote_address from, std::size_t size) const noexcept override;
  peer_view view(remote_address from, std::size_t size) noexcept override;
  std::optional<remote_address> expose(const_buffer data) noexcept override;
  void withdraw(remote_address what) noexcept override;
  void let_go() noexcept override;
  bool pass(const unique_fd& file, std::uint32_t what) noexcept override;
  bool unconsumed() const noexcept override;
  bool wake_peer() noexcept override;
  bool acts_on_ends() const noexcept override { return doorbell_->acts_on_ends(); }

  /// Whether a send was refused for want of room and there is room again.
  bool waits_for_room() const noexcept { return waits_writable_; }
  bool became_writable() noexcept;

  /// Writes a chunk of a payload that the peer offers to copy together. \return events
  unsigned help() noexcept;
  /// Whether `help` would find one.
  bool can_help() const noexcept;

  /// As became_writable, without a change of state: for the last poll before a sleep.
  bool would_have_room() const noexcept;
  bool broken() const noexcept { return broken_; }

  /// The peer has read everything; the link is no longer in the transport's list of unconsumed
  /// links.
  void all_seen() noexcept { listed_unconsumed_ = false; }
  pair& owner() const noexcept { return pair_; }

 private:
  /// Whether a slot is free, as far as this side knows.
  bool has_slot() const noexcept { return position_ - slots_read_ < slot_count; }
  bool has_room(std::uint64_t bulk_end) noexcept {
    return (has_slot() && bulk_end - bulk_read_ <= bulk_bytes) || make_room(bulk_end);
  }
  post publish(slot& s, frame_header header) noexcept;
  void list_unconsumed() noexcept;
  post send_larger(frame_header header, const frame_extension* extension,
                   const std::byte* data) noexcept;
  post send_bulk(frame_header header, const frame_extension* extension,
                 const std::byte* data) noexcept;
  post no_room(std::uint64_t bulk_end) noexcept;
  bool make_room(std::uint64_t bulk_end) noexcept;
  void remember(const_buffer exposed) noexcept;
  bool is_exposed(std::uint64_t from, std::uint64_t size) const noexcept;
  std::optional<shared_copy_sender::offer> writable_offer() const noexcept;

  pair& pair_;
  const std::uint32_t& passes_;                   // of the transport
  std::uint32_t last_pass_ = 0;                   // value of passes_ when the last frame was posted
  runtime::remote_doorbell* doorbell_ = nullptr;  // the pair's, once opened
  runtime::mapping memory_;
  ring* ring_;
  std::uint64_t position_ = 0;       // the next slot to write
  std::uint64_t bulk_position_ = 0;  // where the next payload may begin
  std::uint64_t slots_read_ = 0;     // the receiver's published position, as last read
  std::uint64_t bulk_read_ = 0;
  std::uint64_t wanted_bulk_end_ = 0;
  const std::size_t streamed_from_;  // payloads of this size and longer ones are streamed
  bool waits_writable_ = false;
  bool listed_unconsumed_ = false;
  bool broken_ = false;

  // Memory that the peer may read, which this side may write to it as well.
  shared_copy_sender share_;
  std::vector<const_buffer> exposed_;
  bool cannot_write_ = false;  // the kernel refuses to write to the peer
};

}  // namespace weft::transports::shm
