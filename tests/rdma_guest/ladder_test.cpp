// SPDX-License-Identifier: Apache-2.0
// The pipes of the ladder on a device of libibverbs.
#include "devices.hpp"
#include "support/verbs_pipes.hpp"
#include "transports/verbs/ladder/wire.hpp"

TEST_CASE("device: each rung of the ladder carries bytes in order, short ones and long ones") {
  const auto step = GENERATE(from_range(std::begin(pipes::all_rungs), std::end(pipes::all_rungs)));
  CAPTURE(int(step));
  auto one = ends::device_of(), two = ends::device_of();
  if (!one || !two) return;
  const pipes::ladder::settings chosen{.step = step, .ring = 32 * 1024, .chunk = 4096};
  const auto a = pipes::ladder::open(*one, chosen), b = pipes::ladder::open(*two, chosen);
  pipes::meet(*a, *b);
  for (const std::size_t size : {1ul, 8ul, 4073ul, 100'000ul, 1'000'003ul}) {
    CAPTURE(size);
    const pipes::bytes out = pipes::pattern(size, size);
    pipes::bytes in(size), back(size);
    REQUIRE(pipes::cross(*a, *b, out, in));
    REQUIRE(pipes::cross(*b, *a, in, back));
    CHECK(back == out);
  }
}

TEST_CASE("device: a pipe whose peer names what it must not, or is gone, ends with an error") {
  auto one = ends::device_of(), two = ends::device_of();
  if (!one || !two) return;
  const pipes::ladder::settings chosen{.timeout = std::chrono::seconds(2)};
  const auto a = pipes::ladder::open(*one, chosen);
  auto b = pipes::ladder::open(*two, chosen);
  const bool forged = GENERATE(true, false);
  pipes::ladder::card card{};
  std::memcpy(&card, b->card().data(), sizeof card);
  if (forged) card.key ^= 0x100;
  a->meet(std::as_bytes(std::span(&card, 1)));
  b->meet(a->card());
  if (!forged) b.reset();
  const pipes::bytes data = pipes::pattern(100);
  pipes::put(*a, data);
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
