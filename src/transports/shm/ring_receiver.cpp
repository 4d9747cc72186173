// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/ring_receiver.hpp"

#include <cstring>

namespace weft::transports::shm {

ring_receiver::ring_receiver(runtime::mapping memory, frame_sink& to,
                             runtime::remote_doorbell& sender)
    : memory_(std::move(memory)),
      ring_(static_cast<ring*>(memory_.get())),
      to_(to),
      sender_(sender),
      share_(ring_->share) {
  if (ring_->magic != ring_magic || ring_->version != ring_version ||
      ring_->slots_in_ring != slot_count || ring_->bytes_in_bulk != bulk_bytes)
    throw error(errc::protocol_error, "the peer's shared memory is not a ring of this version");
}

inline bool ring_receiver::deliver_one(slot& s) noexcept {
  const frame_header header = s.header;
  // The sender could change the slot during the check: use the copy, which it cannot change.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::size_t beside = extension_size(header);
  const bool small = fits_slot(header);
  if (small && beside == 0) [[likely]]
    return to_.on_frame(header, nullptr, s.body);
  if (header.size > max_payload) return false;
  frame_extension x;
  std::memcpy(&x, s.body,
              sizeof x);  // the largest possible size: a constant size needs no call of memcpy
  if ((header.flags & has_immediate) == 0) x.immediate = 0;
  const frame_extension* const extension = extension_of(header, x);
  if (small) return to_.on_frame(header, extension, s.body + beside);
  const bulk_place place = bulk_place::after(bulk_position_, header.size);
  if (header.size != 0) bulk_position_ = place.end;
  return to_.on_frame(header, extension, ring_->bulk + place.begin % bulk_bytes);
}

unsigned ring_receiver::deliver(unsigned budget) noexcept {
  vain_ = 0;
  unsigned frames = 0;
  do {
    if (!deliver_one(ring_->slots[position_ % slot_count])) {
      broken_ = true;
      return frames + 1;
    }
    ++position_;
    ++frames;
    if (++unpublished_ >= publish_every || bulk_position_ - published_bulk_ >= publish_every_bulk)
      publish();
  } while (frames < budget && ready());
  return frames;
}

void ring_receiver::publish() noexcept {
  vain_ = 0;
  unpublished_ = 0;
  published_bulk_ = bulk_position_;
  ring_->bulk_read.store(bulk_position_, std::memory_order_release);
  ring_->slots_read.store(position_, std::memory_order_release);
  sender_.fence_if_needed();
  notify_writable();
}

void ring_receiver::notify_writable() noexcept {
  if (!room_wanted()) return;
  sender_.ring_if_asleep();
  sender_.ring_if_computing();
}

}  // namespace weft::transports::shm
