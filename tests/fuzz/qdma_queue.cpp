// SPDX-License-Identifier: Apache-2.0
// A receive queue of the qdma device into which other processes write, at any place. Its reader
// takes nothing out of bounds, and when they have stopped, honest messages come through.
#include <array>
#include <chrono>
#include <cstring>

#include "runtime/descriptors/memory_file.hpp"
#include "target.hpp"
#include "transports/qdma/table.hpp"

namespace weft::fuzz {

namespace {

using namespace transports::qdma;

constexpr vpid liar = 0x1001, honest = 0x1002;
constexpr std::uint64_t mark = 0x686f6e657374;

struct world {
  world()
      : file(runtime::make_memory_file("queue", sizeof(queue_memory))),
        mapping(runtime::map_own(file, sizeof(queue_memory))),
        queue(*static_cast<queue_memory*>(mapping.get())),
        progress_file(runtime::make_memory_file("progress", sizeof(queue_progress))),
        progress_mapping(runtime::map_own(progress_file, sizeof(queue_progress))),
        progress(*static_cast<queue_progress*>(progress_mapping.get())),
        reader(queue, progress),
        contexts(table::make()) {}

  /// \return whether the message was the honest one
  bool take_one() {
    const auto m = reader.peek();
    if (!m) return false;
    check(m->bytes.size() <= slot_bytes, "a message fits into its slot");
    check(m->bytes.data() >= static_cast<std::byte*>(mapping.get()) &&
              m->bytes.data() + m->bytes.size() <=
                  static_cast<std::byte*>(mapping.get()) + mapping.size(),
          "a message lies in the queue");
    std::uint64_t word = 0;
    if (m->bytes.size() == sizeof word) std::memcpy(&word, m->bytes.data(), sizeof word);
    const bool good = word == mark && m->from == honest;
    reader.pop();
    return good;
  }
  void later() { reader.look_after(contexts, now += std::chrono::milliseconds(2)); }

  unique_fd file;
  runtime::mapping mapping;
  queue_memory& queue;
  unique_fd progress_file;
  runtime::mapping progress_mapping;
  queue_progress& progress;
  queue_reader reader;
  table contexts;  // neither is in it
  queue_reader::clock::time_point now{};
};

}  // namespace

void run(input in) {
  world w;
  const std::span<const std::byte> bytes_of_mark = std::as_bytes(std::span(&mark, 1));
  queue_writer theirs(w.queue, w.progress, liar), ours(w.queue, w.progress, honest);
  const auto near = [&w](std::uint8_t by) { return w.progress.head.load() + by; };
  while (!in.empty()) {
    const std::uint32_t slot = in.get<std::uint8_t>() % slot_count;
    switch (in.get<std::uint8_t>() % 9) {
      case 0:
        w.queue.claims[slot].store(in.get<std::uint64_t>());
        break;
      case 1:  // a claim that is almost right
        w.queue.claims[slot].store(claim_of(near(in.get<std::uint8_t>()) + slot, liar));
        break;
      case 2:
        w.queue.heads[slot].size = in.get<std::uint32_t>();
        break;
      case 3:
        w.queue.tail.store(in.get<std::uint64_t>());
        break;
      case 4:
        w.queue.tail.store(near(in.get<std::uint8_t>()) + slot);
        break;
      case 5:
        w.queue.heads[slot].sequence.store(sequence_of(near(in.get<std::uint8_t>())));
        break;
      case 6:
        w.take_one();
        w.reader.publish();
        break;
      case 7:
        w.later();
        break;
      default:
        if (const auto at = theirs.claim(); at && in.get<std::uint8_t>() % 2 == 0)
          theirs.publish(*at, in.get<std::uint16_t>());
    }
  }
  // Forged messages delay others, each for a poll or two.
  for (unsigned tries = 0; tries != 16 * slot_count; ++tries) {
    ours.post(bytes_of_mark);
    for (unsigned looks = 0; looks != slot_count; ++looks)
      if (w.take_one()) return;
    w.reader.publish();
    w.later();
  }
  check(false, "an honest message comes through");
}

}  // namespace weft::fuzz
