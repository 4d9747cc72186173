// SPDX-License-Identifier: Apache-2.0
// RDMA channels on a device of libibverbs.
#include "devices.hpp"
#include "support/channels.hpp"
#include "transports/verbs/channel/open.hpp"
#include "transports/verbs/channel/wire.hpp"

TEST_CASE("device: an RDMA channel of each rung carries bytes in order, short ones and long ones") {
  const auto step =
      GENERATE(from_range(std::begin(channels::all_rungs), std::end(channels::all_rungs)));
  CAPTURE(int(step));
  auto one = ends::device_of(), two = ends::device_of();
  if (!one || !two) return;
  const weft::rdma_channel::settings chosen{.step = step, .ring = 32 * 1024, .chunk = 4096};
  const auto a = weft::transports::verbs::channel::open(*one, chosen),
             b = weft::transports::verbs::channel::open(*two, chosen);
  channels::meet(*a, *b);
  for (const std::size_t size : {1ul, 8ul, 4073ul, 100'000ul, 1'000'003ul}) {
    CAPTURE(size);
    const channels::bytes out = channels::pattern(size, size);
    channels::bytes in(size), back(size);
    REQUIRE(channels::cross(*a, *b, out, in));
    REQUIRE(channels::cross(*b, *a, in, back));
    CHECK(back == out);
  }
}

TEST_CASE("device: a pipe whose peer names what it must not, or is gone, ends with an error") {
  auto one = ends::device_of(), two = ends::device_of();
  if (!one || !two) return;
  const weft::rdma_channel::settings chosen{.timeout = std::chrono::seconds(2)};
  const auto a = weft::transports::verbs::channel::open(*one, chosen);
  auto b = weft::transports::verbs::channel::open(*two, chosen);
  const bool forged = GENERATE(true, false);
  weft::transports::verbs::channel::card card{};
  std::memcpy(&card, b->card().data(), sizeof card);
  if (forged) card.key ^= 0x100;
  a->meet(std::as_bytes(std::span(&card, 1)));
  b->meet(a->card());
  if (!forged) b.reset();
  const channels::bytes data = channels::pattern(100);
  channels::put(*a, data);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (;;) try {
      a->progress();
      REQUIRE(std::chrono::steady_clock::now() < until);
    } catch (const weft::error& e) {
      CHECK(e.kind() == weft::errc::peer_lost);
      if (forged) CHECK(std::string(e.what()).find("remote access error") != std::string::npos);
      break;
    }
}
