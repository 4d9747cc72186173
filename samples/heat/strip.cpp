// SPDX-License-Identifier: Apache-2.0
#include "strip.hpp"

#include <algorithm>
#include <cmath>

namespace heat {

strip::strip(std::size_t width, std::size_t channels, std::size_t height)
    : channels_(channels),
      height_(height),
      stride_((width + 2) * channels),
      now_((height + 2) * stride_),
      next_(now_.size()) {}

strip::strip(const picture& p) : strip(p.width, p.channels, p.height) {
  const std::size_t width = std::size_t{p.width} * p.channels;
  for (std::size_t y = 0; y < height_; ++y) {
    std::copy_n(p.samples.begin() + static_cast<std::ptrdiff_t>(y * width), width,
                at(now_, y) + channels_);
    fill_ghost_pixels(at(now_, y));
  }
}

void strip::store(picture& p) const {
  const std::size_t width = std::size_t{p.width} * p.channels;
  const float white = static_cast<float>(p.maximum);
  for (std::size_t y = 0; y < height_; ++y)
    std::transform(at(now_, y) + channels_, at(now_, y) + channels_ + width,
                   p.samples.begin() + static_cast<std::ptrdiff_t>(y * width), [&](float t) {
                     return static_cast<std::uint16_t>(std::lround(std::clamp(t, 0.0f, white)));
                   });
}

void strip::mirror_above() noexcept { std::copy_n(at(now_, 0), stride_, now_.data()); }

void strip::mirror_below() noexcept {
  std::copy_n(at(now_, height_ - 1), stride_, at(now_, height_));
}

void strip::fill_ghost_pixels(float* row) const noexcept {
  float* const end = row + stride_ - channels_;
  std::copy_n(row + channels_, channels_, row);
  std::copy_n(end - channels_, channels_, end);
}

void strip::relax(std::size_t first, std::size_t last, float rate) noexcept {
  const std::size_t c = channels_;
  for (std::size_t y = first; y < last; ++y) {
    const float* const here = at(now_, y);
    const float* const above = here - stride_;
    const float* const below = here + stride_;
    float* const out = at(next_, y);
    for (std::size_t i = c; i < stride_ - c; ++i)
      out[i] = here[i] + rate * ((above[i] + below[i]) + (here[i - c] + here[i + c]) - 4 * here[i]);
    fill_ghost_pixels(out);
  }
}

void strip::diffuse_alone(std::size_t steps, float rate) noexcept {
  for (; steps; --steps) {
    mirror_above();
    mirror_below();
    relax(0, height_, rate);
    advance();
  }
}

}  // namespace heat
