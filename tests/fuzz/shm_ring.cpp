// SPDX-License-Identifier: Apache-2.0
// A counterpart that writes arbitrary bytes into both rings and its doorbell page, step by step
// between our passes. Every delivered payload lies within the ring, every sent frame goes into it,
// and after the first broken rule no more frames are delivered.
#include <vector>

#include "target.hpp"
#include "transports/shm/ring_receiver.hpp"
#include "transports/shm/transport.hpp"

namespace weft::fuzz {

namespace {

using namespace transports;
using namespace transports::shm;

/// Checks all that is delivered.
class listener final : public frame_sink {
 public:
  const std::byte* begin = nullptr;  // of the incoming ring
  bool broken = false;
  unsigned sum = 0;

  bool on_frame(const frame_header& h, const frame_extension* x,
                const std::byte* payload) noexcept override {
    check(h.size <= max_payload, "a frame has its limit");
    check(payload >= begin && h.size <= sizeof(ring) && payload <= begin + (sizeof(ring) - h.size),
          "a payload lies within the ring");
    check((x != nullptr) == ((h.flags & has_extension) != 0), "an extension comes when announced");
    for (std::size_t i = 0; i < h.size; ++i) sum += static_cast<unsigned>(payload[i]);
    return h.kind != 0;
  }
  void on_writable() noexcept override { check(!broken, "no room after the end"); }
  void on_broken(errc why) noexcept override {
    check(why == errc::protocol_error, "a broken rule is a protocol error");
    broken = true;
  }
};

/// The doorbell that the counterpart hands over.
struct false_bell {
  unique_fd page = runtime::make_memory_file("page", 4096);
  runtime::mapping memory = runtime::map_own(page, 4096);
  runtime::doorbell_page* words = new (memory.get()) runtime::doorbell_page{};
  runtime::wakeup_receiver ear;  // never read

  false_bell() {
    words->magic = runtime::doorbell_page::expected_magic;
    words->has_progress_thread = 1;
    words->caller_bell = words->progress_bell = ear.address();
  }
};

/// Both sides of two rings in one process, each with its own mappings.
struct stage {
  runtime::doorbell own_bell{false};
  shm_transport transport{own_bell, copy_method::pipeline, 1};
  listener in, out;
  false_bell theirs;
  runtime::remote_doorbell their_doorbell{theirs.page, own_bell.to_peers()};
  unique_fd ring_file = runtime::make_memory_file("ring", sizeof(ring));
  runtime::mapping their_ring = runtime::map_own(ring_file, sizeof(ring));
  ring& incoming = *static_cast<ring*>(their_ring.get());
  std::unique_ptr<ring_receiver> ours;
  std::unique_ptr<link> sender;
  runtime::mapping sent_to;
  ring* outgoing = nullptr;
  std::uint64_t written = 0;  // by the counterpart
  std::uint64_t shared_size = 0;

  stage() {
    incoming.magic = ring_magic;
    incoming.version = ring_version;
    incoming.slots_in_ring = slot_count;
    incoming.bytes_in_bulk = bulk_bytes;
    runtime::mapping mine = runtime::map_from_peer(ring_file, sizeof(ring), true);
    in.begin = static_cast<const std::byte*>(mine.get());
    ours = std::make_unique<ring_receiver>(std::move(mine), in, their_doorbell);

    wireup_message offer, answer;
    sender = transport.open(out, {}, offer);
    sent_to = runtime::map_own(offer.fds.front(), sizeof(ring));
    outgoing = static_cast<ring*>(sent_to.get());
    answer.fds.push_back(std::move(theirs.page));
    check(sender->opened(std::move(answer)).empty(), "a good answer is taken");
  }

  void write_slot(input& with) {
    slot& s = incoming.slots[written % slot_count];
    s.header = with.get<frame_header>();
    const auto body = with.bytes(with.get<std::uint8_t>() % (inline_bytes + 1));
    if (!body.empty()) std::memcpy(s.body, body.data(), body.size());
    s.sequence.store(sequence_of(written++), std::memory_order_release);
  }

  void send(input& with) {
    static const std::vector<std::byte> all(max_payload, std::byte{7});
    frame_header h = with.get<frame_header>();
    h.size %= max_payload + 1;
    const const_buffer one(all.data(), h.size);
    gather data({&one, 1});
    const frame_extension x{};
    const bool extended = (h.flags & has_extension) != 0;
    const post taken =
        extended ? sender->send(h, &x, data) : sender->send_contiguous(h, nullptr, one.data());
    check(taken != post::posted, "a frame is taken at once or not");
  }

  /// The receiver's side of a shared copy, whose words the counterpart writes as it likes (case 2).
  void receive_together(input& with) {
    shared_copy_receiver& share = ours->share();
    const std::uint64_t size = 2 * shared_copy::smallest_chunk + with.get<std::uint32_t>();
    if (!share.is_open()) {
      share.open(1 << 20, 2 << 20, size);
      shared_size = size;
    }
    if (const auto chunk = share.claim())
      check(chunk->bytes != 0 && chunk->offset < shared_size &&
                chunk->bytes <= shared_size - chunk->offset,
            "a chunk lies within the payload");
    if (share.now() != shared_copy_receiver::progress::under_way || with.get<std::uint8_t>() == 0) {
      share.close();
      share.is_writing();
    }
  }

  /// The sender's side. What it accepts is limited by what it has exposed.
  void send_together(input& with) {
    shared_copy& words = outgoing->share;
    words.from = with.get<std::uint64_t>();
    words.size = with.get<std::uint64_t>();
    words.next = with.get<std::uint64_t>();
    constexpr std::uint64_t begin = 1 << 20, exposed = 64 << 20;
    shared_copy_sender helps(words);
    const auto offer = helps.offered();
    if (!offer || offer->from < begin || offer->from - begin > exposed ||
        offer->size > exposed - (offer->from - begin))
      return;
    const auto chunk = helps.claim(*offer);
    check(chunk && chunk->from >= offer->from && chunk->bytes != 0 &&
              chunk->bytes <= offer->size - (chunk->from - offer->from),
          "a chunk lies within the payload");
    helps.wrote(with.get<std::uint8_t>() != 0);
  }

  void step(input& with) {
    switch (with.get<std::uint8_t>() % 11) {
      case 0:
      case 1:
        return write_slot(with);
      case 2: {
        const auto at = with.get<std::uint32_t>() % sizeof(ring);
        const auto bytes = with.bytes(with.get<std::uint8_t>());
        auto* const to = static_cast<std::byte*>(their_ring.get()) + at;
        if (!bytes.empty())
          std::memcpy(to, bytes.data(), std::min(bytes.size(), sizeof(ring) - at));
        return;
      }
      case 3:
        if (!ours->broken()) {
          const unsigned frames = ours->poll(64);
          check(frames <= 65, "a pass has its limit");
        }
        return;
      case 4:
        return send(with);
      case 5:
        outgoing->slots_read.store(outgoing->slots_read.load() + with.get<std::uint8_t>());
        outgoing->bulk_read.store(outgoing->bulk_read.load() + 64u * with.get<std::uint16_t>());
        return;
      case 6:
        outgoing->slots_read.store(with.get<std::uint64_t>());
        outgoing->bulk_read.store(with.get<std::uint64_t>());
        return;
      case 7:
        theirs.words->asleep.store(with.get<std::uint8_t>());
        theirs.words->computing.store(with.get<std::uint8_t>());
        incoming.room_wanted.store(with.get<std::uint8_t>());
        return;
      case 8:
        return receive_together(with);
      case 9:
        return send_together(with);
      default:
        transport.poll();
        transport.has_work();
        transport.wake_peer();
        ours->publish_rest();
    }
  }
};

}  // namespace

void run(input in) {
  stage s;
  while (!in.empty()) s.step(in);
}

}  // namespace weft::fuzz
