// SPDX-License-Identifier: Apache-2.0
// Several threads at one endpoint (FI_THREAD_SAFE).
#include <atomic>
#include <thread>

#include "side.hpp"

using namespace ofi_test;

TEST_CASE("ofi: threads that read at once learn of senders whom nobody has met") {
  std::array<side, 4> senders;
  for (int round = 0; round != 6; ++round) {
    side reader;
    std::array<fi_addr_t, 4> known{};
    bytes in(senders.size());
    for (std::size_t i = 0; i != senders.size(); ++i) {
      known[i] = reader.meet(senders[i]);
      REQUIRE(fi_trecv(reader.ep.get(), &in[i], 1, nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr) == 0);
    }
    for (side& s : senders) REQUIRE(fi_tinject(s.ep.get(), "x", 1, s.meet(reader), 7) == 0);
    std::atomic<std::size_t> read{0};
    std::atomic<unsigned> from_whom{0};
    const auto reads = [&] {
      while (read.load() != senders.size()) {
        fi_cq_tagged_entry e{};
        fi_addr_t from = FI_ADDR_NOTAVAIL;
        if (fi_cq_readfrom(reader.cq.get(), &e, 1, &from) != 1) continue;
        for (std::size_t i = 0; i != known.size(); ++i)
          if (from == known[i]) from_whom.fetch_or(1u << i);
        read.fetch_add(1);
      }
    };
    std::thread other(reads);
    reads();
    other.join();
    CHECK(from_whom.load() == (1u << senders.size()) - 1);
  }
}
