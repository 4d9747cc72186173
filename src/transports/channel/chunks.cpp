// SPDX-License-Identifier: Apache-2.0
#include "transports/channel/chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace weft::transports::channel {

/// The count comes by two ways, of which one may be the older.
void chunks::learn(std::uint64_t read) {
  if (read > posted_)
    line_.lie(fmt::format("it has read {} chunks, of {} that were sent", read, posted_));
  peer_read_ = std::max(peer_read_, read);
}

std::size_t chunks::room() {
  if (filled_ - peer_read_ == count_) {
    learn(line_.hear(&words::tail, 0, posted_));
    // A side that only calls `put` also finds the count in chunks that wait to be read.
    trailer t;
    for (std::uint64_t n = read_; n != read_ + count_ && is_there(n, t); ++n) learn(t.read);
  }
  const std::size_t unposted = filled_ - posted_, places = line_.places();
  return std::min(count_ - (filled_ - peer_read_),
                  places > unposted + reserve ? places - unposted - reserve : 0);
}

void chunks::fill(chunk_kind kind, std::size_t size) noexcept {
  const trailer t{read_, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(kind), 0};
  std::memcpy(end_of(line_.outbox(), filled_++) - sizeof t, &t, offsetof(trailer, turn));
  told_ = read_;
}

void chunks::post() {
  for (; posted_ != filled_; ++posted_) {
    std::byte* const end = end_of(line_.outbox(), posted_);
    auto* const t = reinterpret_cast<trailer*>(end) - 1;
    const std::size_t all = sizeof *t + t->size;
    // Where the outbox is the peer's own memory, it may read the chunk from now on.
    std::atomic_ref(t->turn).store(posted_ + 1, std::memory_order_release);
    line_.write(static_cast<std::size_t>(end - line_.outbox()) - all, all);
  }
}

/// \param into a copy: the peer may change the trailer between two reads
bool chunks::is_there(std::uint64_t number, trailer& into) const noexcept {
  auto* const there = reinterpret_cast<trailer*>(end_of(line_.inbox(), number)) - 1;
  if (std::atomic_ref(there->turn).load(std::memory_order_acquire) != number + 1) return false;
  std::memcpy(&into, there, sizeof into);
  return true;
}

const chunks::arrived* chunks::front() {
  if (front_) return &*front_;
  trailer t;
  if (!is_there(read_, t)) return nullptr;
  if (t.size > payload()) line_.lie(fmt::format("a chunk of {} bytes carries {}", bytes_, t.size));
  const auto kind = static_cast<chunk_kind>(t.kind);
  if ((kind != chunk_kind::data || t.size == 0) &&
      (kind != chunk_kind::offer || t.size != sizeof(offer) || !offers_))
    line_.lie(fmt::format("a chunk of kind {} carries {} bytes", t.kind, t.size));
  learn(t.read);
  front_ = {kind, {end_of(line_.inbox(), read_) - sizeof t - t.size, t.size}};
  return &*front_;
}

void chunks::take(std::size_t size) {
  front_->bytes = front_->bytes.subspan(size);
  if (!front_->bytes.empty()) return;
  front_.reset();
  ++read_;
  pay();
}

void chunks::pay() {
  if (read_ - told_ < (count_ + 1) / 2 || line_.places() == 0) return;
  line_.tell(&words::tail, read_);
  told_ = read_;
}

}  // namespace weft::transports::channel
