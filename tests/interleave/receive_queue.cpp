// SPDX-License-Identifier: Apache-2.0
// A receive queue of qdma with room for one message: producers that wait for room, and the owner,
// which rings those whose wish it finds. Nobody waits for ever, and every message comes once.
// clang-format off
// always: src/transports/qdma/wire.hpp: slot_count = 256; => slot_count = 1;
// always: src/transports/qdma/wire.hpp: index_bits = 12; => index_bits = 6;
// mutation RESET_UNFENCED: src/transports/qdma/receive_queue.hpp: std::atomic_thread_fence(std::memory_order_seq_cst);  // or arm64 loads the wishes before => nothing
// mutation NEVER_LOOK_AGAIN: src/transports/qdma/receive_queue.hpp: if (ring_wishes(ring)) queue_.wish.store(1, std::memory_order_relaxed); => nothing
// mutation NOTIFY_UNFENCED: src/transports/qdma/receive_queue.hpp: std::atomic_thread_fence(std::memory_order_seq_cst);  // of publish; see wish_for_room => nothing
// mutation WISH_UNFENCED: src/transports/qdma/receive_queue.cpp: std::atomic_thread_fence(std::memory_order_seq_cst); => nothing
// mutation CLAIM_IN_TWO_STEPS: src/transports/qdma/receive_queue.hpp: !c.compare_exchange_strong(seen, claim_of(position, me_), std::memory_order_acq_rel)) => (c.store(claim_of(position, me_)), false))
// clang-format on
#include "substitute.hpp"

#include <array>
#include <memory>

#include "scenario.hpp"
#include "transports/qdma/receive_queue.cpp"

namespace {

using namespace weft::transports::qdma;

using numbers = std::array<unsigned, 2>;
constexpr numbers of_two{2, 1}, of_one{4, 0};  // messages of each producer

struct state {
  explicit state(const numbers& n) : messages(n), left(n[0] + n[1]) {}

  const numbers& messages;
  queue_memory queue{};
  queue_progress progress{};
  queue_reader reader{queue, progress};
  std::array<bool, 2> bell{};
  unsigned left;
};

/// As qdma's peer and device do.
void post_all(state& s, vpid me) {
  queue_writer out(s.queue, s.progress, me);
  for (unsigned n = 0; n != s.messages[me]; ++n) {
    while (!out.post({})) {
      out.wish_for_room();
      if (out.post({})) break;
      interleave::wait_until([&] { return s.bell[me]; });
      s.bell[me] = false;
    }
    out.drop_wish();
  }
}

void take_all(state& s) {
  while (s.left != 0) {
    interleave::wait_until([&] { return s.reader.peek().has_value(); });
    for (; s.reader.peek(); s.reader.pop()) --s.left;
    s.reader.publish();
    s.reader.notify_writable([&s](std::uint32_t producer) { s.bell[producer] = true; });
  }
}

}  // namespace

interleave::bounds within() { return {.preemptions = 1, .delays = 1, .stale = 1}; }

void scenario(interleave::run& now) {
  const auto s = std::make_shared<state>(interleave::any_of(2) == 0 ? of_one : of_two);
  for (vpid p = 0; p != s->messages.size(); ++p) now.thread([s, p] { post_all(*s, p); });
  now.thread([s] { take_all(*s); });
  now.at_end([s] { interleave::expect(!s->reader.peek(), "a message came twice"); });
}
