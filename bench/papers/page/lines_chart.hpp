// SPDX-License-Identifier: Apache-2.0
// A chart of the JSON lines of any run: which key is x, which is y, and what tells series apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output/json_lines.hpp"
#include "plot/chart.hpp"

namespace weft::bench::page {

/// What is not given is chosen.
struct chart_choice {
  std::string x{};                    ///< a key
  std::string y{};                    ///< a key with numbers
  std::vector<std::string> series{};  ///< keys whose values name a series
  std::optional<plot::chart_kind> kind{};
  std::string relative_to{};  ///< a series, whose values at the same x become 1
  std::string title{};
};

/// \param lines objects, as weft-bench prints them with --json
/// Throws std::invalid_argument if there are none, or none has what is wanted; the error lists the
/// keys or series that there are.
plot::chart chart_of(const std::vector<json>& lines, const chart_choice& wanted);

/// The keys by which chart_of tells series apart, if x is that key: texts first, then whole
/// numbers, each only if it separates lines that the keys before it do not.
std::vector<std::string> series_keys(const std::vector<json>& lines, const std::string& x);

/// A key of figures, with its meaning.
struct metric {
  const char* key;
  const char* label;
  const char* unit;
};

/// The main figure of most lines; nullptr: none of those that weft-bench prints.
const metric* metric_of(const std::vector<json>& lines);
const metric* find_metric(const std::string& key);
/// Whether a key describes samples (p10, mean ...) or a verdict on them, so that it is neither x
/// nor a series' name.
bool describes_samples(const std::string& key);

}  // namespace weft::bench::page
