// SPDX-License-Identifier: Apache-2.0
// Two payloads, one after the other, that the receiver and the sender copy together.
// clang-format off
// mutation OPEN_EARLY: src/transports/shm/shared_copy.hpp: shared_.from.store(from, std::memory_order_release); => shared_.next.store(shared_copy::word(generation_, 0), std::memory_order_release); shared_.from.store(from, std::memory_order_release);
// mutation WRITTEN_RELAXED: src/transports/shm/shared_copy.hpp: shared_.written.store(shared_copy::word(generation_, written_), std::memory_order_release); => shared_.written.store(shared_copy::word(generation_, written_), std::memory_order_relaxed);
// mutation COUNT_OLD_CHUNKS: src/transports/shm/shared_copy.hpp: return shared_copy::generation_of(w) == generation_ ? shared_copy::number_of(w) : 0; => return shared_copy::number_of(w);
// mutation KEEP_COUNTING: src/transports/shm/shared_copy.hpp: if (std::exchange(generation_, generation) != generation) written_ = 0; => generation_ = generation;
// mutation LOOK_RELAXED: src/transports/shm/shared_copy.hpp: shared_.written.load(std::memory_order_acquire) => shared_.written.load(std::memory_order_relaxed)
// mutation OFFERED_RELAXED: src/transports/shm/shared_copy.hpp: shared_.next.load(std::memory_order_acquire) => shared_.next.load(std::memory_order_relaxed)
// clang-format on
#include "substitute.hpp"

#include <array>
#include <memory>

#include "scenario.hpp"
#include "transports/shm/shared_copy.hpp"

namespace {

using namespace weft::transports::shm;

constexpr unsigned chunks = 2, payloads = 2;
constexpr std::uint64_t size = chunks * shared_copy::smallest_chunk;

struct state {
  shared_copy words{};
  shared_copy_receiver receiver{words};
  shared_copy_sender sender{words};
  // The receive's memory: each payload has a value of its own. Relaxed stores, as of a plain copy.
  std::array<weft::std::atomic<std::uint64_t>, chunks> memory{};
  std::uint64_t receiving = 0;
  bool over = false;

  void copy(std::uint64_t payload, std::uint64_t offset) {
    interleave::expect(receiving == payload, "it is copied to memory of another payload");
    memory[offset / shared_copy::smallest_chunk].store(payload, std::memory_order_relaxed);
  }
};

}  // namespace

interleave::bounds within() { return {.preemptions = 2, .delays = 1, .stale = 2}; }

void scenario(interleave::run& now) {
  const auto s = std::make_shared<state>();
  now.thread([s] {
    for (std::uint64_t payload = 1; payload <= payloads; ++payload) {
      s->receiving = payload;
      s->receiver.open(payload << 32, payload << 32, size);
      for (;;) {
        if (const auto c = s->receiver.claim()) {
          s->copy(payload, c->offset);
          continue;
        }
        const auto how = s->receiver.now();
        interleave::expect(how != shared_copy_receiver::progress::broken, "it breaks");
        if (how == shared_copy_receiver::progress::whole) break;
        interleave::wait_until(
            [s] { return s->receiver.now() != shared_copy_receiver::progress::under_way; });
      }
      interleave::expect(s->receiver.close(), "it ends in disorder");
      for (const auto& part : s->memory)
        interleave::expect(part.load(std::memory_order_relaxed) == payload, "it is not whole");
      s->receiving = 0;
    }
    s->over = true;
    interleave::changed();
  });
  now.thread([s] {
    while (!s->over) {
      const auto offer = s->sender.offered();
      if (!offer) {
        interleave::wait_until([s] { return s->over || s->sender.offered(); });
        continue;
      }
      const auto c = s->sender.claim(*offer);
      if (!c) continue;
      s->copy(c->to >> 32, c->to & 0xffffffff);
      s->sender.wrote(true);
    }
  });
}
