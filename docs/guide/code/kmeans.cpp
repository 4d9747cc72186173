// SPDX-License-Identifier: Apache-2.0
// kmeans: paints a picture of 1000 x 1000 pixels with few colours. Each pixel is a point in the
// space of colours; the new colours are the means of k clusters of points.
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

using namespace weft;

constexpr std::string_view header = "P6\n1000 1000\n255\n";
constexpr std::size_t points = 1'000'000, k = 8;
constexpr int most_rounds = 50;
using pixel = std::array<std::uint8_t, 3>;
using point = std::array<int, 3>;

/// Of the points of a cluster: their sum, and how many they are.
struct cluster {
  std::int64_t sum[3], count;
  friend cluster operator+(const cluster& a, const cluster& b) {
    return {{a.sum[0] + b.sum[0], a.sum[1] + b.sum[1], a.sum[2] + b.sum[2]}, a.count + b.count};
  }
};

point point_of(const pixel& p) { return {p[0], p[1], p[2]}; }

int distance(const point& a, const point& b) {
  int d = 0;
  for (std::size_t c = 0; c != 3; ++c) d += (a[c] - b[c]) * (a[c] - b[c]);
  return d;
}

std::size_t nearest(std::span<const point> centres, const point& p) {
  std::size_t best = 0;
  for (std::size_t j = 1; j != centres.size(); ++j)
    if (distance(p, centres[j]) < distance(p, centres[best])) best = j;
  return best;
}

/// Of some points, those that are far from each other.
std::vector<point> first_centres(std::span<const pixel> pixels) {
  std::vector<point> chosen{point_of(pixels[0])};
  while (chosen.size() != k) {
    point farthest = chosen[0];
    for (std::size_t i = 0; i < pixels.size(); i += 997) {
      const point p = point_of(pixels[i]), q = farthest;
      if (distance(p, chosen[nearest(chosen, p)]) > distance(q, chosen[nearest(chosen, q)]))
        farthest = p;
    }
    chosen.push_back(farthest);
  }
  return chosen;
}

/// Moves the centres to the means of all ranks' points until they rest. Yields the rounds.
task<int> cluster_all(group world, std::span<const pixel> pixels, std::vector<point>& centres) {
  for (int round = 1;; ++round) {
    std::vector<cluster> clusters(k);
    for (const pixel& one : pixels) {
      const point p = point_of(one);
      cluster& c = clusters[nearest(centres, p)];
      c = c + cluster{{p[0], p[1], p[2]}, 1};
    }
    co_await world.all_reduce(clusters);

    int moved = 0;
    for (std::size_t j = 0; j != k; ++j)
      for (std::size_t c = 0; c != 3 && clusters[j].count != 0; ++c) {
        const int mean = int(clusters[j].sum[c] / clusters[j].count);
        moved += mean != std::exchange(centres[j][c], mean);
      }
    if (world.rank() == 0) std::fprintf(stderr, "round %d: %d moved\n", round, moved);
    if (moved == 0 || round == most_rounds) co_return round;
  }
}

task<void> play(context& ctx) {
  group world = ctx.world();
  const std::size_t first = points * world.rank() / world.size();
  const std::size_t last = points * (world.rank() + 1) / world.size();

  // Every rank reads its own part of the file.
  file in = co_await file::open(ctx, "landscape.ppm", O_RDONLY);
  std::vector<pixel> pixels(last - first);
  co_await in.read_exactly(header.size() + sizeof(pixel) * first, pixels);

  std::vector<point> centres(k);
  if (world.rank() == 0) {
    std::vector<pixel> all(points);
    co_await in.read_exactly(header.size(), all);
    centres = first_centres(all);
  }
  co_await world.broadcast(centres);
  const int rounds = co_await cluster_all(world, pixels, centres);

  // Every rank paints its own part of the new picture. Rank 0 makes the file.
  for (pixel& one : pixels) {
    const point& p = centres[nearest(centres, point_of(one))];
    for (std::size_t c = 0; c != 3; ++c) one[c] = std::uint8_t(p[c]);
  }
  file out = co_await file::open(world, "posters.ppm", O_WRONLY | O_CREAT | O_TRUNC);
  if (world.rank() == 0) co_await out.write_exactly(0, header);
  co_await out.write_exactly(header.size() + sizeof(pixel) * first, pixels);
  co_await world.barrier();
  if (world.rank() != 0) co_return;
  std::printf("%zu points, %zu colours, %d rounds\n", points, k, rounds);
  for (const point& p : centres) std::printf("%3d %3d %3d\n", p[0], p[1], p[2]);
}

int main() { return run_main(play); }
