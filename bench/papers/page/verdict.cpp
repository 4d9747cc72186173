// SPDX-License-Identifier: Apache-2.0
#include "page/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "plot/text.hpp"

namespace weft::bench::page {
namespace {

std::optional<value> side(const side_of_claim& what, const figure& in) {
  if (what.number) return value{.x = nullptr, .y = *what.number};
  return value_at(in, what.series, what.x);
}

/// Where left is: at 0 the relation holds, elsewhere it does not. Of `near` the two ends differ:
/// values on both of them do not agree.
int place(double left, double right, relation is) {
  switch (is) {
    case relation::below:
      return left < right ? 0 : 1;
    case relation::above:
      return left > right ? 0 : -1;
    case relation::near:
      break;
  }
  const double tenth = 0.1 * std::max(std::abs(left), std::abs(right));
  return std::abs(left - right) <= tenth ? 0 : left < right ? -1 : 1;
}

struct decision {
  outcome is = outcome::not_measured;
  std::string here;
};

/// The outcome that all places but `allowed` have; undecided if there is none.
outcome common(const std::vector<int>& places, std::size_t allowed) {
  for (const int one : {0, -1, 1}) {
    const auto same = static_cast<std::size_t>(std::count(places.begin(), places.end(), one));
    if (same + allowed >= places.size()) return one == 0 ? outcome::holds : outcome::fails;
  }
  return outcome::undecided;
}

using run_pairs = std::vector<std::pair<run_value, run_value>>;

/// The runs that both sides have; a number takes part in all of them.
run_pairs pairs_of(const value& left, const value& right) {
  const auto fixed = [](const value& one, int run) {
    return run_value{.run = run, .y = one.y, .low = one.y, .high = one.y};
  };
  run_pairs result;
  for (const run_value& one : left.runs) {
    if (right.runs.empty()) {
      result.emplace_back(one, fixed(right, one.run));
      continue;
    }
    for (const run_value& other : right.runs)
      if (other.run == one.run) result.emplace_back(one, other);
  }
  if (left.runs.empty())
    for (const run_value& other : right.runs) result.emplace_back(fixed(left, other.run), other);
  return result;
}

bool has_spread(const run_value& one) { return std::isfinite(one.low) && std::isfinite(one.high); }

/// By the spreads of the samples, the ends that are nearest and farthest.
outcome by_spreads(const run_pairs& runs, relation is) {
  std::vector<int> places;
  for (const auto& [left, right] : runs) {
    if (!has_spread(left) || !has_spread(right)) return outcome::undecided;
    places.insert(places.end(), {place(left.y, right.y, is), place(left.low, right.high, is),
                                 place(left.high, right.low, is)});
  }
  return common(places, 0);
}

outcome by_runs(const run_pairs& runs, relation is) {
  std::vector<int> places;
  for (const auto& [left, right] : runs) places.push_back(place(left.y, right.y, is));
  return common(places, runs.size() >= many_runs ? 1 : 0);
}

decision decide(const side_of_claim& left_side, const side_of_claim& right_side, relation is,
                const figure& in, const std::string& unit) {
  const auto left = side(left_side, in), right = side(right_side, in);
  if (!left || !right) return {};
  const run_pairs runs = pairs_of(*left, *right);
  if (runs.empty()) return {};
  decision result;
  result.here = fmt::format("{} against {}{}{}", plot::value_text(left->y, unit),
                            plot::value_text(right->y, unit), unit.empty() ? "" : " ", unit);
  if (runs.size() > 1) result.here += fmt::format(", {} runs", runs.size());
  const bool enough = runs.size() >= enough_runs;
  result.is = enough ? by_runs(runs, is) : by_spreads(runs, is);
  if (result.is != outcome::undecided) return result;
  const bool spreads = std::all_of(runs.begin(), runs.end(), [](const auto& one) {
    return has_spread(one.first) && has_spread(one.second);
  });
  result.here += enough    ? "; the runs do not agree"
                 : spreads ? "; the spreads overlap"
                           : "; a single value has no spread";
  return result;
}

std::string in_sentence(const control_of_claim& what, const decision& made) {
  return fmt::format("{} ({})", what.text, made.here.empty() ? "not measured" : made.here);
}

/// The role of a side; none of a number or of the paper's values.
std::optional<series_role> role_of(const side_of_claim& what, const figure& in) {
  for (const figure_series& one : in.all)
    if (!what.number && one.name == what.series && !one.quoted) return one.role;
  return std::nullopt;
}

/// What the sides alone say: weft has no part in bare ones, and what another library does on this
/// machine weft could do, too.
void blame_by_sides(const claim& what, const figure& in, verdict& result) {
  const auto left = role_of(what.left, in), right = role_of(what.right, in);
  const auto is = [](const auto& side, series_role role) { return side && *side == role; };
  const auto has = [&](series_role role) { return is(left, role) || is(right, role); };
  if (!left && !right) return;
  if (!has(series_role::weft)) {
    result.cause = cause_place::machine;
    result.why = "Weft has no part in it.";
  } else if (has(series_role::peer)) {
    result.cause = cause_place::weft;
    result.why = "Another library runs beside it on the same machine.";
  }
}

/// Finds the cause of a claim that fails.
void blame(const claim& what, const figure& in, const std::string& unit, verdict& result) {
  if (what.control) {
    const auto& control = *what.control;
    const decision made = decide(control.left, control.right, control.is, in, unit);
    if (made.is == outcome::holds) {
      result.cause = cause_place::weft;
      result.why = "The machine can do it without weft: " + in_sentence(control, made) + '.';
      return;
    }
    if (made.is == outcome::fails) {
      result.cause = cause_place::machine;
      result.why = "Without weft it fails as well: " + in_sentence(control, made) + '.';
      return;
    }
    result.open = made.is == outcome::undecided;
    result.why = "Its control is not decided: " + in_sentence(control, made) + '.';
  }
  if (what.cause == cause_place::unknown) {
    if (!what.control) blame_by_sides(what, in, result);
    return;
  }
  result.cause = what.cause;
  result.why += (result.why.empty() ? "" : " ") + what.why;
}

}  // namespace

verdict judge(const claim& what, const figure& in, const std::string& unit) {
  const decision made = decide(what.left, what.right, what.is, in, unit);
  verdict result{.is = made.is, .here = made.here, .cause = cause_place::unknown, .why = {}};
  result.open = made.is == outcome::undecided;
  if (made.is == outcome::fails) blame(what, in, unit, result);
  if (made.is == outcome::undecided) {
    result.cause = what.cause;
    result.why = what.why;
  }
  return result;
}

const char* name_of(outcome is) {
  switch (is) {
    case outcome::holds:
      return "holds";
    case outcome::fails:
      return "fails";
    case outcome::undecided:
      return "undecided";
    case outcome::not_measured:
      break;
  }
  return "not measured";
}

const char* name_of(cause_place is) {
  switch (is) {
    case cause_place::weft:
      return "weft";
    case cause_place::machine:
      return "the machine";
    case cause_place::method:
      return "the method";
    case cause_place::unknown:
      break;
  }
  return "not known";
}

}  // namespace weft::bench::page
