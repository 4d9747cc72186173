// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <vector>

#include "pictures.hpp"
#include "plan.hpp"
#include "strip.hpp"
#include "support/catch.hpp"

using namespace heat;

namespace {

constexpr std::size_t steps = 25;
constexpr float rate = 0.2f;

void copy(std::span<float> from, std::span<float> to) { std::ranges::copy(from, to.begin()); }

/// Does what the processes do, with copies instead of messages.
picture diffuse_in_strips(picture p, std::uint32_t processes) {
  const plan all{p.width, p.height, p.channels, steps, rate, processes};
  strip plate(p);
  std::vector<strip> parts;
  for (std::uint32_t w = 0; w < all.workers(); ++w) {
    const std::size_t first = all.first_row(w), last = all.first_row(w + 1);
    copy(plate.rows(first, last),
         parts.emplace_back(p.width, p.channels, last - first).rows(0, last - first));
  }
  for (std::size_t n = 0; n < steps; ++n) {
    for (std::size_t w = 0; w < parts.size(); ++w) {
      strip& mine = parts[w];
      const std::size_t height = mine.height();
      if (w > 0)
        copy(parts[w - 1].rows(parts[w - 1].height() - 1, parts[w - 1].height()),
             mine.ghost_above());
      else
        mine.mirror_above();
      if (w + 1 < parts.size())
        copy(parts[w + 1].rows(0, 1), mine.ghost_below());
      else
        mine.mirror_below();
      if (height > 2) mine.relax(1, height - 1, rate);
      mine.relax(0, 1, rate);
      if (height > 1) mine.relax(height - 1, height, rate);
    }
    for (strip& s : parts) s.advance();
  }
  for (std::uint32_t w = 0; w < all.workers(); ++w)
    copy(parts[w].rows(0, parts[w].height()), plate.rows(all.first_row(w), all.first_row(w + 1)));
  plate.store(p);
  return p;
}

picture diffuse_whole(picture p) {
  strip plate(p);
  plate.diffuse_alone(steps, rate);
  plate.store(p);
  return p;
}

}  // namespace

TEST_CASE("strips of any height compute what the whole plate computes") {
  for (const std::uint32_t channels : {1u, 3u})
    for (const std::uint32_t width : {1u, 2u, 33u}) {
      const picture p = tests::pattern(width, 17, channels, 65535);
      const picture whole = diffuse_whole(p);
      for (const std::uint32_t processes : {1u, 2u, 3u, 5u, 16u, 17u, 40u}) {
        CAPTURE(channels, width, processes);
        CHECK(diffuse_in_strips(p, processes) == whole);
      }
    }
}

TEST_CASE("rows are shared out completely and evenly") {
  for (const std::uint32_t height : {1u, 2u, 7u, 512u, 513u})
    for (const std::uint32_t processes : {1u, 2u, 3u, 4u, 7u, 100u}) {
      const plan p{10, height, 1, 1, rate, processes};
      CHECK(p.first_row(0) == 0);
      CHECK(p.first_row(p.workers()) == height);
      for (std::uint32_t w = 0; w < p.workers(); ++w) {
        const std::size_t mine = p.first_row(w + 1) - p.first_row(w);
        CHECK(mine >= height / p.workers());
        CHECK(mine <= height / p.workers() + 1);
      }
    }
}

TEST_CASE("a picture survives being a strip") {
  const picture p = tests::pattern(13, 7, 3, 65535);
  picture back = p;
  std::ranges::fill(back.samples, std::uint16_t{0});
  strip(p).store(back);
  CHECK(back == p);
}

TEST_CASE("heat flows to the four neighbours and none is lost") {
  picture p{5, 5, 1, 1000, std::vector<std::uint16_t>(25)};
  p.samples[12] = 1000;
  strip plate(p);
  plate.diffuse_alone(1, 0.1f);
  plate.store(p);
  std::vector<std::uint16_t> expected(25);
  expected[12] = 600;
  for (const std::size_t i : {7u, 11u, 13u, 17u}) expected[i] = 100;
  CHECK(p.samples == expected);
}

TEST_CASE("a corner keeps what would flow over the rim") {
  picture p{3, 3, 1, 1000, {1000, 0, 0, 0, 0, 0, 0, 0, 0}};
  strip plate(p);
  plate.diffuse_alone(1, 0.1f);
  plate.store(p);
  CHECK(p.samples == std::vector<std::uint16_t>{800, 100, 0, 100, 0, 0, 0, 0, 0});
}

TEST_CASE("a uniform plate stays as it is and colours do not mix") {
  picture p{4, 4, 3, 255};
  for (int i = 0; i < 16; ++i) p.samples.insert(p.samples.end(), {255, 128, 0});
  const picture before = p;
  strip plate(p);
  plate.diffuse_alone(50, 0.25f);
  plate.store(p);
  CHECK(p == before);
}
