// SPDX-License-Identifier: Apache-2.0
// From values to coordinates, and the ticks of an axis.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::plot {

enum class scale_kind : unsigned char { linear, log2, log10 };

/// The values at the ends of an axis; low < high, and above zero on a logarithmic axis.
struct range {
  double low = 0;
  double high = 1;
};

/// Whether an axis of that kind has a place for `value`: a number that is not beyond 1e100, and
/// above zero on a logarithmic one.
bool has_place(double value, scale_kind kind) noexcept;

/// A range with round ends around the values that have a place; a useful one also for a single
/// value and for none. `from_zero`: a linear one begins at zero (or ends there).
range round_range(std::span<const double> values, scale_kind kind, bool from_zero);

/// The range of the values that have a place and a small margin, for an axis whose ends need not be
/// round.
range close_range(std::span<const double> values, scale_kind kind);

/// Maps a range to an interval of coordinates, `first` to `last` (which may be smaller).
class scale {
 public:
  scale(scale_kind kind, range shown, double first, double last);

  /// The coordinate of a value that has a place; values beyond the range are beyond the interval.
  double at(double value) const;

 private:
  double level(double value) const;

  scale_kind kind_;
  double low_;  // levels: values, or their logarithms
  double high_;
  double first_;
  double last_;
};

struct tick {
  double value;
  std::string label;
};

/// At most `count` ticks at round values within the range, in ascending order.
std::vector<tick> ticks_of(scale_kind kind, range shown, std::string_view unit, int count);

}  // namespace weft::plot
