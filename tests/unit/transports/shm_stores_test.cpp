// SPDX-License-Identifier: Apache-2.0
// Copies into a ring past the cache.
#include <algorithm>
#include <vector>

#include "support/catch.hpp"
#include "transports/shm/stores.hpp"

using namespace weft::transports;
using weft::const_buffer;

TEST_CASE("stores: streamed bytes are those of the source, at any place, and no others") {
  std::vector<std::byte> source(700);
  for (std::size_t i = 0; i != source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
  const std::size_t size =
      GENERATE(as<std::size_t>{}, 0, 1, 15, 16, 63, 64, 65, 127, 128, 200, 513);
  const std::size_t first = GENERATE(as<std::size_t>{}, 0, 1, 64, 100);  // of two pieces
  for (std::size_t offset = 0; offset != 70; ++offset) {
    CAPTURE(size, first, offset);
    std::vector<std::byte> target(700, std::byte{0});
    const std::size_t before = std::min(first, size);
    const const_buffer pieces[] = {{source.data() + offset / 3, before},
                                   {source.data() + 150, size - before}};
    gather from(pieces, 0);
    shm::stream_out(target.data() + offset, from, size);
    std::vector<std::byte> wanted(700, std::byte{0});
    std::copy_n(source.data() + offset / 3, before, wanted.data() + offset);
    std::copy_n(source.data() + 150, size - before, wanted.data() + offset + before);
    REQUIRE((target == wanted));
  }
}

TEST_CASE("stores: only those who ask for streaming stores get them, for pieces worth it") {
  using weft::ring_stores;
  CHECK(shm::streamed_from(ring_stores::streaming, 16384) ==
        (shm::can_stream ? 16384 : shm::never_streamed));
  for (const auto other : {ring_stores::automatic, ring_stores::ordinary})
    CHECK(shm::streamed_from(other, 16384) == shm::never_streamed);
}
