// SPDX-License-Identifier: Apache-2.0
// A receive queue of the qdma device that others write into, wherever they like: its reader takes
// nothing out of bounds, and when they have stopped, honest messages come through.
#include <array>
#include <chrono>
#include <cstring>

#include "runtime/memory_file.hpp"
#include "target.hpp"
#include "transports/qdma/receive_queue.hpp"

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
        reader(queue),
        contexts(table::make()) {}

  /// \return whether it was the honest message
  bool take_one() {
    const auto m = reader.peek();
    if (!m) return false;
    check(m->bytes.size() <= max_payload, "a message fits into its slot");
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

  runtime::unique_fd file;
  runtime::mapping mapping;
  queue_memory& queue;
  queue_reader reader;
  table contexts;  // in which neither lives
  queue_reader::clock::time_point now{};
};

}  // namespace

void run(input in) {
  world w;
  const std::span<const std::byte> bytes_of_mark = std::as_bytes(std::span(&mark, 1));
  while (!in.empty()) {
    slot& s = w.queue.slots[in.get<std::uint8_t>() % slot_count];
    switch (in.get<std::uint8_t>() % 7) {
      case 0:
        s.word.store(in.get<std::uint64_t>());
        break;
      case 1:  // a word that is almost right
        s.word.store(slot_word{in.get<std::uint8_t>() % 3u,
                               static_cast<slot_state>(in.get<std::uint8_t>() % 4), liar}
                         .packed());
        break;
      case 2:
        s.size = in.get<std::uint32_t>();
        break;
      case 3:
        w.queue.tail.store(in.get<std::uint64_t>());
        break;
      case 4:
        w.take_one();
        break;
      case 5:
        w.later();
        break;
      default:
        if (const auto at = claim_slot(w.queue, liar); at && in.get<std::uint8_t>() % 2 == 0)
          fill_slot(w.queue, *at, liar, in.bytes(in.get<std::uint8_t>()));
    }
  }
  for (unsigned tries = 0; tries != 16 * slot_count; ++tries) {
    if (const auto at = claim_slot(w.queue, honest)) fill_slot(w.queue, *at, honest, bytes_of_mark);
    for (unsigned looks = 0; looks != slot_count; ++looks)
      if (w.take_one()) return;
    w.later();
  }
  check(false, "an honest message comes through");
}

}  // namespace weft::fuzz
