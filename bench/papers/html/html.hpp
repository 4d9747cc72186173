// SPDX-License-Identifier: Apache-2.0
// The page: one file of HTML without a script, without anything from elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "page/experiment.hpp"
#include "page/figure.hpp"
#include "page/record.hpp"
#include "page/verdict.hpp"

namespace weft::bench::page {

/// The whole page. \param machine what describe_machine() has said
std::string html_of(const std::vector<paper>& papers, const records& measured, const json& machine);

/// Every claim with its verdict, for programs: a list of objects with "experiment", "claim",
/// "verdict", "here", and of those that fail, or may, "cause" and "why".
json verdicts_of(const std::vector<paper>& papers, const records& measured);

/// How the claims of some experiments came out.
struct tally {
  int hold = 0;
  int fail = 0;
  int undecided = 0;
  int not_measured = 0;

  int all() const noexcept { return hold + fail + undecided + not_measured; }
  void add(outcome is) noexcept;
  void add(const tally& other) noexcept;
};

/// An experiment with what was measured for it.
struct result {
  const paper* of;
  const experiment* what;
  figure shown;
  std::vector<verdict> verdicts;  ///< one for each claim

  tally counts() const noexcept;
};

std::vector<result> results_of(const paper& of, const records& measured);

/// Text for HTML, as `plot::escaped`, with the apostrophes of print; an option like --nas stays on
/// one line.
std::string prose(std::string_view text);

/// Parts of the page.
std::string style_of_page();
std::string html_of(const result& what, const records& measured);
std::string values_table(const result& what);
/// A mark with text: colour alone does not show agreement. Empty if there are no claims, but
/// something was measured.
std::string badge_of(const result& what);

}  // namespace weft::bench::page
