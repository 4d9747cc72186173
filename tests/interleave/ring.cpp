// SPDX-License-Identifier: Apache-2.0
// The ring of shared memory: a sender of small messages and of some in the bulk area, a receiver,
// and a killer that ends the sender's process between any two steps. Delivered messages are whole,
// in order and published, and no thread writes or reads beyond the ring.
// clang-format off
// always: src/transports/shm/wire.hpp: slot_count = 256; => slot_count = 2;
// always: src/transports/shm/wire.hpp: bulk_bytes = 128 * 1024; => bulk_bytes = 192;
// always: src/transports/shm/wire.hpp: max_payload = 32 * 1024; => max_payload = 128;
// always: src/transports/shm/ring_receiver.hpp: publish_every = slot_count / 4 => publish_every = 2
// always: src/transports/shm/ring_receiver.hpp: publish_every_bulk = bulk_bytes / 8 => publish_every_bulk = bulk_bytes
// always: src/transports/shm/ring_receiver.cpp: const frame_header header = s.header; => frame_header header; std::memcpy(&header, &s.header, sizeof header);
// mutation PUBLISH_RELAXED: src/transports/shm/link.cpp: sequence_of(position_), std::memory_order_release) => sequence_of(position_), std::memory_order_relaxed)
// mutation READY_RELAXED: src/transports/shm/ring_receiver.hpp: sequence.load(std::memory_order_acquire) => sequence.load(std::memory_order_relaxed)
// mutation PUBLISH_BEFORE_WRITING: src/transports/shm/link.cpp: std::memcpy(&s.header, &header, sizeof header); => nothing
// mutation PUBLISH_BEFORE_WRITING: src/transports/shm/link.cpp: s.sequence.store(sequence_of(position_), std::memory_order_release); => s.sequence.store(sequence_of(position_), std::memory_order_release); std::memcpy(&s.header, &header, sizeof header);
// mutation TURN_WITHOUT_LAP: src/transports/shm/wire.hpp: static_cast<std::uint32_t>(position / slot_count) + 1 => static_cast<std::uint32_t>(position - position) + 1
// mutation ROOM_FOR_ONE_MORE_SLOT: src/transports/shm/link.hpp: position_ - slots_read_ < slot_count => position_ - slots_read_ <= slot_count
// mutation ROOM_FOR_MORE_LINES: src/transports/shm/link.hpp: bulk_end - bulk_read_ <= bulk_bytes => bulk_end - bulk_read_ <= bulk_bytes + 2 * line
// mutation TELL_BEFORE_READING: src/transports/shm/ring_receiver.cpp: if (!deliver_one( => ++position_; publish(); --position_; if (!deliver_one(
// mutation TELL_BULK_BEFORE_READING: src/transports/shm/ring_receiver.cpp: const bulk_place place = bulk_place::after(bulk_position_, header.size); => const bulk_place place = bulk_place::after(bulk_position_, header.size); ring_->bulk_read.store(place.end);
// mutation WRAP_IN_THE_MIDDLE: src/transports/shm/wire.hpp: size <= room ? position : position + room => position + 0 * room
// mutation KEEP_THE_REST: src/transports/shm/ring_receiver.hpp: if (unpublished_ != 0) publish(); => nothing
// clang-format on
#include "substitute.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>

#include "scenario.hpp"

namespace {

constexpr std::size_t page = 4096;

/// The two mappings of one ring, as two processes have them. The ring of every run.
struct views {
  std::byte* sender;
  std::byte* receiver;
  std::size_t size = 0;           // of the ring
  const char* trouble = nullptr;  // a copy that went beyond the ring

  views() {
    const int file = ::memfd_create("ring", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, page) != 0) throw std::bad_alloc();
    for (std::byte** at : {&sender, &receiver}) {
      void* const mapped = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (mapped == MAP_FAILED) throw std::bad_alloc();
      *at = static_cast<std::byte*>(mapped);
    }
    ::close(file);
  }
  bool holds(const void* at, std::size_t n) {
    for (const std::byte* begin : {sender, receiver}) {
      const auto from = static_cast<const std::byte*>(at) - begin;
      if (from < 0 || static_cast<std::size_t>(from) >= page) continue;
      if (static_cast<std::size_t>(from) + n > size) trouble = "a copy went beyond the ring";
      return true;
    }
    return false;
  }
};
views& both() {
  static views v;
  return v;
}

/// A copy from or into the ring is a step for each line, and a store may be delayed.
void copy_in_steps(void* to, const void* from, std::size_t n) {
  constexpr std::size_t line = 64;
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  const bool writes = both().holds(to, n), reads = both().holds(from, n);
  while ((writes || reads) && n != 0 && !both().trouble) {
    const std::size_t piece = std::min(n, line);
    if (writes)
      interleave::store(out, in, piece);
    else
      interleave::load(in, out, piece);
    out += piece;
    in += piece;
    n -= piece;
  }
  if (!writes && !reads) ::memcpy(to, from, n);
}

}  // namespace

namespace weft::std {
inline void* memcpy(void* to, const void* from, size_t n) noexcept {
  copy_in_steps(to, from, n);
  return to;
}
}  // namespace weft::std

#include "runtime/sleep/doorbell.cpp"
#include "transports/link.cpp"
#include "transports/shm/link.cpp"
#include "transports/shm/ring_receiver.cpp"
#include "transports/shm/stores.cpp"

namespace weft::runtime {
bool join_heavy_fences() noexcept { return true; }
void settle() noexcept {}
bool heavy_fence() noexcept { return true; }
}  // namespace weft::runtime

namespace {

using namespace weft::transports;
using namespace weft::transports::shm;

/// The first ones go into the bulk area, wrapping to its beginning; the next into slots, until
/// there is no slot.
constexpr std::uint32_t sizes[] = {100, 120, 3, 8};
constexpr unsigned messages = 4;

/// No thread sleeps in this scenario: the doorbells are never rung.
weft::runtime::remote_doorbell& silent_doorbell() {
  static weft::runtime::doorbell own{false};
  static weft::runtime::remote_doorbell remote{weft::runtime::duplicate(own.page_fd()),
                                               own.to_peers()};
  return remote;
}

weft::runtime::mapping borrowed(std::byte* at) { return {at, 0}; }

struct state final : frame_sink {
  shm::pair with{silent_doorbell()};
  ring_link out{with, borrowed(both().sender)};
  ring_receiver in{borrowed(both().receiver), *this, silent_doorbell()};
  unsigned sent = 0, received = 0;
  const char* wrong = nullptr;

  state() { out.opened({}); }

  bool on_frame(const frame_header& h, const frame_extension* x,
                const std::byte* payload) noexcept override {
    if (received == messages || h.tag != received + 1 || h.size != sizes[received] || x) {
      wrong = "a frame is not the next one, or not whole";
      return false;
    }
    ++received;
    // Checked a second time after other threads could run: none may have written the payload in the
    // meantime.
    whole(payload, h);
    interleave::point();
    whole(payload, h);
    return true;
  }
  void whole(const std::byte* payload, const frame_header& h) {
    if (!both().holds(payload, h.size)) wrong = "a payload lies elsewhere";
    std::array<std::byte, max_payload> found;
    interleave::look(payload, found.data(), h.size);
    if (!std::all_of(found.data(), found.data() + h.size,
                     [&](std::byte b) { return b == std::byte(h.tag); }))
      wrong = "a payload is torn";
  }
  void on_writable() noexcept override {}
  void on_broken(weft::errc) noexcept override {}
};

void send_all(state& s) {
  for (unsigned n = 1; n <= messages; ++n) {
    std::byte data[max_payload];
    const std::uint32_t size = sizes[n - 1];
    std::fill_n(data, size, std::byte(n));
    while (s.out.send_contiguous({n, size, 0, 0, 0}, nullptr, data) == post::busy) do
        interleave::wait_until([&s] { return s.out.would_have_room(); });
      while (!s.out.became_writable());
    s.sent = n;
  }
}

}  // namespace

interleave::bounds within() {
  return {.preemptions = 1, .delays = 1, .stale = 2, .together = true};
}

void scenario(interleave::run& now) {
  views& v = both();
  std::fill_n(v.sender, page, std::byte{0});
  v.size = sizeof(ring);
  v.trouble = nullptr;
  interleave::same_memory(v.sender, page, 1);
  interleave::same_memory(v.receiver, page, 1);
  const auto s = std::make_shared<state>();

  const unsigned sender = now.thread([s] { send_all(*s); });
  now.thread([s, sender] {
    while (s->received != messages && !s->in.broken()) {
      if (s->in.poll(messages) != 0) continue;
      s->in.publish_rest();
      interleave::wait_until([&] { return s->in.ready() || interleave::gone(sender); });
      if (!interleave::gone(sender)) continue;
      while (s->in.poll(messages) != 0 && !s->in.broken())
        continue;  // as when a peer's link is ended
      break;
    }
  });
  if (interleave::any_of(2) == 1) now.thread([sender] { interleave::kill(sender); });
  now.at_end([s] {
    if (both().trouble) throw interleave::broken(both().trouble);
    if (s->wrong) throw interleave::broken(s->wrong);
    interleave::expect(!s->in.broken() && !s->out.broken(), "a side thinks that the other lies");
    interleave::expect(s->received == s->sent || s->received == s->sent + 1,
                       "a message that had left did not arrive");
    interleave::expect(std::all_of(both().sender + both().size, both().sender + page,
                                   [](std::byte b) { return b == std::byte{0}; }),
                       "somebody wrote beyond the ring");
  });
}
