// SPDX-License-Identifier: Apache-2.0
#include "ladder/loops.hpp"

namespace weft::bench::ladder_command {

void round_trips(way& w, int rank, std::size_t size, std::size_t count, std::uint64_t& sequence) {
  const auto send = [&] {
    const auto message = w.out(0, size);
    stamp(message, sequence);
    w.send(message);
  };
  for (std::size_t i = 0; i != count; ++i) {
    ++sequence;
    if (rank == 0) send();
    const auto box = w.in(0, size);
    w.receive(box, sequence);
    check_stamp(box, sequence);
    if (rank == 1) send();
  }
}

void windows(way& w, int rank, std::size_t size, std::size_t window, std::size_t count,
             std::uint64_t& sequence) {
  for (std::size_t i = 0; i != count; ++i) {
    ++sequence;
    for (std::size_t k = 0; k != window; ++k)
      if (rank == 0) {
        stamp(w.out(k, size), sequence);
        w.send(w.out(k, size));
      } else {
        w.receive(w.in(k, size), sequence);
        check_stamp(w.in(k, size), sequence);
      }
    const auto answer = rank == 1 ? w.out(window, stamp_size) : w.in(window, stamp_size);
    if (rank == 1) {
      stamp(answer, sequence);
      w.send(answer);
    } else {
      w.receive(answer, sequence);
    }
  }
}

}  // namespace weft::bench::ladder_command
