// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/link.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "runtime/os/pause.hpp"
#include "runtime/os/small_copy.hpp"
#include "transports/shm/stores.hpp"
#include "transports/shm/transport.hpp"

namespace weft::transports::shm {

namespace {

// In a burst, slots are fetched for writing a group at a time: those behind the next group, which
// the receiver may be reading. One prefetch for each message has no effect on some processors,
// while stores to other slots wait for theirs (docs/performance.md).
constexpr std::uint64_t group = 16;

/// Whether the bulk area up to `end` is free. `end` may lie behind what the receiver has read, when
/// other frames were sent since it was computed.
bool fits(std::uint64_t end, std::uint64_t read) noexcept {
  return end <= read || end - read <= bulk_bytes;
}

}  // namespace

ring_link::ring_link(pair& with, runtime::mapping memory) noexcept
    : link(with.owner().traits()),
      pair_(with),
      passes_(with.owner().passes()),
      memory_(std::move(memory)),
      ring_(static_cast<ring*>(memory_.get())),
      streamed_from_(with.owner().streamed_from()),
      share_(ring_->share) {
  ring_->magic = ring_magic;
  ring_->version = ring_version;
  ring_->slots_in_ring = slot_count;
  ring_->bytes_in_bulk = bulk_bytes;
}

ring_link::~ring_link() { pair_.owner().link_ended(*this); }

std::string ring_link::opened(wireup_message answer) {
  std::string trouble = pair_.take_answer(std::move(answer));
  if (trouble.empty()) doorbell_ = &pair_.peer_doorbell();
  return trouble;
}

/// Reads how far the receiver has read, and accepts only positions within what was sent.
/// \return whether one more slot and the bulk area up to `bulk_end` are free
bool ring_link::make_room(std::uint64_t bulk_end) noexcept {
  const std::uint64_t slots = ring_->slots_read.load(std::memory_order_acquire);
  const std::uint64_t bulk = ring_->bulk_read.load(std::memory_order_acquire);
  if (slots > position_ || slots < slots_read_ || bulk > bulk_position_ || bulk < bulk_read_) {
    broken_ = true;
    return false;
  }
  slots_read_ = slots;
  bulk_read_ = bulk;
  return position_ - slots_read_ < slot_count && fits(bulk_end, bulk_read_);
}

/// Hands a slot whose body is written to the receiver. Calls no function in the common case, like
/// its callers: saving registers would cost as much as the frame.
inline post ring_link::publish(slot& s, frame_header header) noexcept {
  std::memcpy(&s.header, &header, sizeof header);
  s.sequence.store(sequence_of(position_), std::memory_order_release);
  ++position_;
  // The receiver read the next lines on its last lap. In a burst, fetching them early hides the
  // transfers; for a single message the fetch would only delay the message itself.
  if (last_pass_ != passes_)
    last_pass_ = passes_;
  else if (position_ % group == 0)
    for (std::uint64_t i = group; i < 2 * group; ++i)
      runtime::prefetch_for_write(&ring_->slots[(position_ + i) % slot_count]);
  if (!listed_unconsumed_) [[unlikely]]
    list_unconsumed();
  doorbell_->ring_if_asleep();
  return post::done;
}

[[gnu::noinline, gnu::cold]] void ring_link::list_unconsumed() noexcept {
  listed_unconsumed_ = true;
  pair_.owner().has_unconsumed(*this);
}

post ring_link::send_contiguous(frame_header header, const frame_extension* extension,
                                const std::byte* data) noexcept {
  if (extension || header.size > inline_bytes || !has_slot()) [[unlikely]]
    return send_larger(header, extension, data);
  slot& s = ring_->slots[position_ % slot_count];
  runtime::small_copy(s.body, data, header.size);
  return publish(s, header);
}

post ring_link::send_larger(frame_header header, const frame_extension* extension,
                            const std::byte* data) noexcept {
  if (!fits_slot(header)) return send_bulk(header, extension, data);
  if (!has_room(bulk_position_)) [[unlikely]]
    return no_room(bulk_position_);
  slot& s = ring_->slots[position_ % slot_count];
  if (extension) std::memcpy(s.body, extension, sizeof *extension);
  runtime::small_copy(s.body + extension_size(header), data, header.size);
  return publish(s, header);
}

post ring_link::send_bulk(frame_header header, const frame_extension* extension,
                          const std::byte* data) noexcept {
  const bulk_place place = bulk_place::after(bulk_position_, header.size);
  if (!has_room(place.end)) [[unlikely]]
    return no_room(place.end);
  std::byte* const to = ring_->bulk + place.begin % bulk_bytes;
  if (header.size >= streamed_from_) [[unlikely]]
    stream_out(to, data, header.size);
  else
    std::memcpy(to, data, header.size);
  bulk_position_ = place.end;
  slot& s = ring_->slots[position_ % slot_count];
  if (extension) std::memcpy(s.body, extension, sizeof *extension);
  return publish(s, header);
}

post ring_link::send(const frame_header& header, const frame_extension* extension,
                     gather& data) noexcept {
  const bool small = fits_slot(header);
  const bulk_place place = small || header.size == 0
                               ? bulk_place{bulk_position_, bulk_position_}
                               : bulk_place::after(bulk_position_, header.size);
  if (!has_room(place.end)) [[unlikely]]
    return no_room(place.end);
  slot& s = ring_->slots[position_ % slot_count];
  const std::size_t beside = extension_size(header);
  if (extension) std::memcpy(s.body, extension, beside);
  if (small) {
    copy_out(s.body + beside, data, header.size);
  } else {
    std::byte* const to = ring_->bulk + place.begin % bulk_bytes;
    if (header.size >= streamed_from_) [[unlikely]]
      stream_out(to, data, header.size);
    else
      copy_out(to, data, header.size);
    bulk_position_ = place.end;
  }
  return publish(s, header);
}

[[gnu::noinline, gnu::cold]] post ring_link::no_room(std::uint64_t bulk_end) noexcept {
  wanted_bulk_end_ = bulk_end;
  if (!waits_writable_) {
    waits_writable_ = true;
    pair_.owner().wants_room(*this);
    ring_->room_wanted.store(1, std::memory_order_relaxed);
  }
  // The next pass looks for room, and then calls the peer's frame sink.
  if (broken_) return post::failed;
  doorbell_->ring_if_computing();
  return post::busy;
}

bool ring_link::became_writable() noexcept {
  if (!make_room(wanted_bulk_end_)) return broken_;
  waits_writable_ = false;
  ring_->room_wanted.store(0, std::memory_order_relaxed);
  return true;
}

bool ring_link::would_have_room() const noexcept {
  const std::uint64_t slots = ring_->slots_read.load(std::memory_order_acquire);
  const std::uint64_t bulk = ring_->bulk_read.load(std::memory_order_acquire);
  // The next pass will find it broken.
  if (slots > position_ || bulk > bulk_position_) return true;
  return position_ - slots < slot_count && fits(wanted_bulk_end_, bulk);
}

post ring_link::get(scatter into, remote_address from, std::size_t size,
                    std::uint64_t cookie) noexcept {
  return pair_.get(into, from, size, cookie);
}

preference ring_link::prefers_get(remote_address from, std::size_t size) const noexcept {
  return pair_.prefers_get(from, size);
}

peer_view ring_link::view(remote_address from, std::size_t size) noexcept {
  return pair_.view(from, size);
}

std::optional<remote_address> ring_link::expose(const_buffer data) noexcept {
  const std::optional<remote_address> at = pair_.expose(data);
  if (at && at->region == 0) remember(data);
  return at;
}

/// Without memory the peer reads alone.
void ring_link::remember(const_buffer exposed) noexcept {
  if (cannot_write_ || exposed.size() < 2 * shared_copy::smallest_chunk) return;
  try {
    exposed_.reserve(exposed_.size() + 1);
    if (exposed_.empty()) pair_.owner().exposes(*this);
    exposed_.push_back(exposed);
  } catch (const std::bad_alloc&) {
    return;
  }
}

void ring_link::withdraw(remote_address what) noexcept {
  if (what.region != 0 || exposed_.empty()) return;
  const auto known = std::find_if(exposed_.begin(), exposed_.end(), [&](const_buffer one) {
    return reinterpret_cast<std::uintptr_t>(one.data()) == what.offset;
  });
  if (known == exposed_.end()) return;
  exposed_.erase(known);
  if (exposed_.empty()) pair_.owner().exposes_nothing(*this);
}

bool ring_link::is_exposed(std::uint64_t from, std::uint64_t size) const noexcept {
  return std::any_of(exposed_.begin(), exposed_.end(), [&](const_buffer one) {
    const auto begin = reinterpret_cast<std::uintptr_t>(one.data());
    return from >= begin && from - begin <= one.size() && size <= one.size() - (from - begin);
  });
}

/// \return a payload that this side may write; nothing: none is offered
std::optional<shared_copy_sender::offer> ring_link::writable_offer() const noexcept {
  const auto offer = cannot_write_ ? std::nullopt : share_.offered();
  if (!offer || !is_exposed(offer->from, offer->size) || !pair_.may_write()) return {};
  return offer;
}

bool ring_link::can_help() const noexcept { return writable_offer().has_value(); }

unsigned ring_link::help() noexcept {
  const auto offer = writable_offer();
  if (!offer) return 0;
  const auto chunk = share_.claim(*offer);
  if (!chunk) return 0;
  const bool well = pair_.write(chunk->to, chunk->from, chunk->bytes);
  share_.wrote(well);
  cannot_write_ = !well;
  return 1;
}

/// A receiver that has read anything that the application writes there from now on sees this word,
/// too (ring_receiver::withdrawn).
bool ring_link::pass(const unique_fd& file, std::uint32_t what) noexcept {
  return !broken_ && pair_.pass(file, what);
}

void ring_link::let_go() noexcept {
  pair_.owner().copies().end_all_of(pair_);
  if (!exposed_.empty()) pair_.owner().exposes_nothing(*this);
  exposed_.clear();
  ring_->withdrawn.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

bool ring_link::unconsumed() const noexcept {
  return ring_->slots_read.load(std::memory_order_relaxed) != position_;
}

bool ring_link::wake_peer() noexcept {
  if (!unconsumed()) return false;
  const bool rang = doorbell_->ring_if_asleep();
  return doorbell_->ring_if_computing() || rang;
}

}  // namespace weft::transports::shm
