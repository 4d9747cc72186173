// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>

/// A landscape of 1000 x 1000 pixels: a sky, a sun, two hills, and some noise. Binary PPM.
int main() {
  std::ofstream out("landscape.ppm", std::ios::binary);
  out << "P6\n1000 1000\n255\n";
  unsigned dice = 1;
  for (int y = 0; y != 1000; ++y)
    for (int x = 0; x != 1000; ++x) {
      double r = 90 + y * 0.12, g = 140 + y * 0.1, b = 230 - y * 0.06;
      if (std::hypot(x - 700, y - 250) < 110) r = 238, g = 220 - y * 0.1, b = 90;
      if (y > 560 + 120 * std::sin(x * 0.006)) r = 70, g = 130 - y * 0.05, b = 60;
      if (y > 760 + 60 * std::sin(x * 0.011 + 2)) r = 140, g = 90 + y * 0.03, b = 40;
      for (double c : {r, g, b}) {
        dice = dice * 1664525 + 1013904223;
        out.put(static_cast<char>(static_cast<unsigned>(c) + (dice >> 28)));
      }
    }
}
