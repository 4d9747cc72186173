// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/link.hpp"

#include <cstring>

#include "runtime/os/pause.hpp"
#include "runtime/os/small_copy.hpp"
#include "transports/qdma/transport.hpp"

namespace weft::transports::qdma {

namespace {

// How far ahead of the write position a slot is fetched: beyond those that the receiver may be
// reading.
constexpr std::uint64_t slots_ahead = 2;

/// Whether the stage up to `end` is free.
bool fits(std::uint64_t end, std::uint64_t read) noexcept {
  return end <= read || end - read <= stage_bytes;
}

std::size_t bytes_before_payload(const frame_header& h) noexcept {
  return sizeof h + extension_size(h);
}

}  // namespace

queue_link::queue_link(pair& with, runtime::mapping stage) noexcept
    : link(with.owner().traits()),
      pair_(with),
      passes_(with.owner().passes()),
      stage_(std::move(stage)) {}

queue_link::~queue_link() {
  if (writer_) writer_->drop_wish();
  let_go();
  pair_.owner().link_ended(*this);
}

std::string queue_link::opened(wireup_message answer) {
  std::string trouble = pair_.take_answer(std::move(answer));
  if (!trouble.empty()) return trouble;
  peer_ = pair_.there();
  writer_ = &peer_->writer(0);
  return {};
}

inline void queue_link::publish(std::uint64_t position, std::size_t size) noexcept {
  writer_->publish(position, size);
  // The receiver read the next lines on its last lap. In a burst, fetching one early hides the
  // transfer; for a single message the fetch would only delay the message itself.
  if (last_pass_ == passes_) runtime::prefetch_for_write(writer_->upcoming(position, slots_ahead));
  last_pass_ = passes_;
  peer_->peer_doorbell().ring_if_asleep();
  if (!listed_unconsumed_) [[unlikely]] {
    listed_unconsumed_ = true;
    pair_.owner().has_unconsumed(*this);
  }
}

post queue_link::send_contiguous(frame_header header, const frame_extension* extension,
                                 const std::byte* data) noexcept {
  const std::size_t before = bytes_before_payload(header);
  if (before + header.size > head_bytes)
    return send_frame(header, extension,
                      [data](std::byte* to, std::size_t n) { std::memcpy(to, data, n); });
  const auto at = writer_->claim();
  if (!at) [[unlikely]]
    return no_room(staged_);
  std::byte* const to = writer_->first_line(*at);
  std::memcpy(to, &header, sizeof header);
  if (extension) std::memcpy(to + sizeof header, extension, sizeof *extension);
  runtime::small_copy(to + before, data, header.size);
  publish(*at, before + header.size);
  return post::done;
}

post queue_link::send(const frame_header& header, const frame_extension* extension,
                      gather& data) noexcept {
  gather rest = data;
  const post answer = send_frame(header, extension,
                                 [&rest](std::byte* to, std::size_t n) { copy_out(to, rest, n); });
  if (answer == post::done) data = rest;
  return answer;
}

/// A taken slot blocks all senders until it is filled, so a staged payload is copied first.
template <class Copy>
post queue_link::send_frame(const frame_header& header, const frame_extension* extension,
                            Copy copy) noexcept {
  const std::size_t before = bytes_before_payload(header);
  const bool in_slot = before + header.size <= slot_bytes;
  const stage_place place =
      in_slot ? stage_place{staged_, staged_} : stage_place::after(staged_, header.size);
  if (!has_stage(place.end) || !writer_->may_have_room()) [[unlikely]]
    return no_room(place.end);
  if (!in_slot)
    copy(static_cast<std::byte*>(stage_.get()) + place.begin % stage_bytes, header.size);
  const auto at = writer_->claim();
  if (!at) [[unlikely]]
    return no_room(place.end);
  const std::size_t size = in_slot ? before + header.size : before;
  std::byte* const to = writer_->first_line(*at);
  std::memcpy(to, &header, sizeof header);
  if (extension) std::memcpy(to + sizeof header, extension, extension_size(header));
  if (in_slot && header.size != 0)
    copy(size <= head_bytes ? to + before : writer_->room(*at, size), header.size);
  publish(*at, size);
  staged_ = place.end;
  return post::done;
}

/// Reads how far the peer has read, and accepts only positions within what was staged.
bool queue_link::has_stage(std::uint64_t end) noexcept {
  if (fits(end, stage_read_)) return true;
  const std::uint64_t read = peer_->stage().read.load(std::memory_order_acquire);
  if (read > staged_ || read < stage_read_) {
    broken_ = true;
    return false;
  }
  stage_read_ = read;
  return fits(end, stage_read_);
}

[[gnu::noinline, gnu::cold]] post queue_link::no_room(std::uint64_t stage_end) noexcept {
  wanted_stage_ = stage_end;
  if (!waits_writable_) {
    waits_writable_ = true;
    pair_.owner().wants_room(*this);
    writer_->wish_for_room();
  }
  // The next pass looks for room, and then calls the peer's frame sink.
  if (broken_) return post::failed;
  peer_->peer_doorbell().ring_if_computing();
  return post::busy;
}

bool queue_link::became_writable() noexcept {
  if (!has_stage(wanted_stage_) || !writer_->may_have_room()) return broken_;
  waits_writable_ = false;
  writer_->drop_wish();
  return true;
}

bool queue_link::would_have_room() const noexcept {
  const std::uint64_t read = peer_->stage().read.load(std::memory_order_acquire);
  // The next pass will find it broken.
  if (read > staged_) return true;
  return fits(wanted_stage_, read) && writer_->may_have_room();
}

bool queue_link::wake_peer() noexcept { return unconsumed() && peer_->ring(); }

}  // namespace weft::transports::qdma
