// SPDX-License-Identifier: Apache-2.0
// A strip of the plate: some of its rows, as temperatures now and one step later.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "picture.hpp"

namespace heat {

/// Rows of the plate with a ghost row above the first and one below the last: copies of the
/// neighbours' rows, or of this strip's rows at the plate's edge, so that no heat crosses the edge.
/// Each row has a ghost pixel at either end for the same purpose. Rows lie in memory one after the
/// other, so that any number of them travels as one message. A plain value; one thread at a time.
class strip {
 public:
  /// All zero.
  strip(std::size_t width, std::size_t channels, std::size_t height);

  /// The whole plate: a picture's samples as temperatures.
  explicit strip(const picture& p);

  std::size_t height() const noexcept { return height_; }

  /// Rows `first` to `last` (not included) of now, with their ghost pixels.
  std::span<float> rows(std::size_t first, std::size_t last) noexcept {
    return {at(now_, first), (last - first) * stride_};
  }
  std::span<float> ghost_above() noexcept { return {now_.data(), stride_}; }
  std::span<float> ghost_below() noexcept { return rows(height_, height_ + 1); }

  void mirror_above() noexcept;  ///< the plate ends above the first row
  void mirror_below() noexcept;  ///< the plate ends below the last row

  /// Computes rows `first` to `last` (not included) of the next step. Reads them, and one row more
  /// on either side. A cell's value depends only on its neighbourhood, not on its strip: every cell
  /// takes the same instructions in the same order.
  /// \param rate the share of a difference that flows to a neighbour in a step; stable up to 0.25
  void relax(std::size_t first, std::size_t last, float rate) noexcept;

  /// The next step becomes now.
  void advance() noexcept { now_.swap(next_); }

  /// Rounds now to the samples of a picture.
  void store(picture& p) const;

  /// The whole computation in one process: the reference for all other results.
  void diffuse_alone(std::size_t steps, float rate) noexcept;

 private:
  float* at(std::vector<float>& v, std::size_t row) noexcept {
    return v.data() + (row + 1) * stride_;
  }
  const float* at(const std::vector<float>& v, std::size_t row) const noexcept {
    return v.data() + (row + 1) * stride_;
  }
  void fill_ghost_pixels(float* row) const noexcept;

  std::size_t channels_;
  std::size_t height_;
  std::size_t stride_;  ///< floats of a row, ghost pixels included
  std::vector<float> now_;
  std::vector<float> next_;
};

}  // namespace heat
