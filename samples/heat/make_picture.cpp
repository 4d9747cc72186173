// SPDX-License-Identifier: Apache-2.0
// Makes the picture that is shipped: a cold woven cloth, with a word, a wire and coals glowing on
// it.
//   make_picture picture.pgm
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "picture.hpp"

namespace {

constexpr double pi = std::numbers::pi;

struct point {
  double x, y;
};

double distance(point a, point b) { return std::hypot(a.x - b.x, a.y - b.y); }

double to_line(point p, point a, point b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double t = ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy);
  const double s = std::clamp(t, 0.0, 1.0);
  return distance(p, {a.x + s * dx, a.y + s * dy});
}

/// Angles in degrees, clockwise as y grows downwards, from `first` to `last`.
double to_arc(point p, point centre, double radius, double first, double last) {
  const auto on = [&](double degrees) {
    const double a = degrees * pi / 180;
    return point{centre.x + radius * std::cos(a), centre.y + radius * std::sin(a)};
  };
  double angle = std::atan2(p.y - centre.y, p.x - centre.x) * 180 / pi;
  while (angle < first) angle += 360;
  if (angle <= last) return std::abs(distance(p, centre) - radius);
  return std::min(distance(p, on(first)), distance(p, on(last)));
}

double to_word(point p) {
  return std::min({
      // w
      to_line(p, {52, 200}, {78, 312}),
      to_line(p, {78, 312}, {107, 226}),
      to_line(p, {107, 226}, {136, 312}),
      to_line(p, {136, 312}, {162, 200}),
      // e
      to_line(p, {192, 258}, {284, 258}),
      to_arc(p, {238, 258}, 50, 50, 360),
      // f
      to_line(p, {342, 226}, {342, 312}),
      to_arc(p, {374, 218}, 32, 175, 300),
      to_line(p, {316, 246}, {376, 246}),
      // t
      to_line(p, {426, 186}, {426, 286}),
      to_arc(p, {454, 284}, 28, 60, 180),
      to_line(p, {400, 224}, {462, 224}),
  });
}

/// Threads that pass over and under each other, bright where they bulge.
double cloth(point p) {
  constexpr double pitch = 16;
  const double round_x = std::abs(std::sin(pi * p.x / pitch));
  const double round_y = std::abs(std::sin(pi * p.y / pitch));
  const bool over = (static_cast<int>(p.x / pitch) + static_cast<int>(p.y / pitch)) % 2 == 0;
  return over ? 12 + 60 * round_y * (0.4 + 0.6 * round_x)
              : 6 + 40 * round_x * (0.4 + 0.6 * round_y);
}

double brightness(point p) {
  double b = cloth(p);
  const auto glow = [&](double from_edge, double heat) {
    b = std::max(b, heat * std::clamp(1 - from_edge / 4, 0.0, 1.0));
  };
  glow(to_word(p) - 9, 255);
  for (const double y : {84.0, 428.0}) {  // a wire above, one below, each a wave
    const double slope = 36 * 2 * pi / 128 * std::cos(2 * pi * p.x / 128);
    glow(std::abs(p.y - y - 36 * std::sin(2 * pi * p.x / 128)) / std::hypot(1, slope) - 2, 215);
  }
  for (int i = 0; i < 8; ++i) {  // coals where the wires are far away
    const double x = 32 + 64 * i, away = i % 2 ? 16 : -16;
    glow(distance(p, {x, 84 + away}) - 6 - i, 255);
    glow(distance(p, {x, 428 + away}) - 13 + i, 255);
  }
  return b;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: make_picture <file.pgm or .png>\n");
    return 1;
  }
  try {
    heat::picture p{512, 512};
    for (std::uint32_t y = 0; y < p.height; ++y)
      for (std::uint32_t x = 0; x < p.width; ++x)
        p.samples.push_back(
            static_cast<std::uint16_t>(std::lround(brightness({x + 0.5, y + 0.5}))));
    heat::write_picture(argv[1], p);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "make_picture: {}\n", e.what());
    return 1;
  }
}
