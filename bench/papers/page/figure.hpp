// SPDX-License-Identifier: Apache-2.0
// The values of an experiment: those of the paper, and those measured here, selected out of the
// lines of commands; and the verdicts on its claims.
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

enum class outcome : unsigned char { agrees, differs, not_measured };

struct verdict {
  outcome is = outcome::not_measured;
  std::string here;  ///< the values: "0.136 against 0.139 µs"
};

/// `near` is within a tenth of the larger one. \param unit of both values, for `here`
verdict judge(const claim& what, const figure& in, const std::string& unit);

/// The unit of displayed values: that of y, and none of ratios.
std::string shown_unit(const experiment& what);

/// The same for a sentence: "µs", "times that of bare writes".
std::string unit_in_words(const experiment& what);

}  // namespace weft::bench::page
