// SPDX-License-Identifier: Apache-2.0
// The values of an experiment: those of the paper, and those measured here, selected out of the
// lines of commands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "page/experiment.hpp"
#include "page/record.hpp"

namespace weft::bench::page {

struct figure_series {
  std::string name;
  bool quoted = false;  ///< of the paper
  series_role role = series_role::weft;
  std::vector<value> points;  ///< as displayed: ratios, if the experiment is relative
  std::string like;
  std::string source;
};

struct figure {
  std::vector<figure_series> all;  ///< measured ones first
  std::vector<std::string> notes;  ///< about what could not be had
};

/// The values of `what`, from the records of `of`'s commands. What is missing becomes a note.
figure figure_of(const paper& of, const experiment& what, const records& measured);

/// The value of a series at x, if there is one.
std::optional<value> value_at(const figure& in, const std::string& series, const json& x);

/// The unit of displayed values: that of y, and none of ratios.
std::string shown_unit(const experiment& what);

/// The same for a sentence: "µs", "times that of bare writes".
std::string unit_in_words(const experiment& what);

}  // namespace weft::bench::page
