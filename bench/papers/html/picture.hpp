// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "page/figure.hpp"
#include "plot/chart.hpp"

namespace weft::bench::page {

/// The chart of an experiment; series that it is relative to are the rule at 1.
plot::chart picture_of(const experiment& what, const figure& shown);

/// The x of all series: numbers and sizes ("16 KiB") in ascending order, other texts as they come.
std::vector<json> places_of(const figure& shown);

/// A place as text, "64 K", "Allreduce".
std::string place_text(const json& x, const std::string& unit);

/// The measured series, or those of the paper, that others are given relative to.
bool is_base(const experiment& what, const std::string& series);

}  // namespace weft::bench::page
