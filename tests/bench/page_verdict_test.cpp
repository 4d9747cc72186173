// SPDX-License-Identifier: Apache-2.0
// When a claim of a paper is decided, what a control says of its cause, and what is run once more.
#include "measure/core_distance.hpp"
#include "measure/load.hpp"
#include "measure/rounds.hpp"
#include "page/verdict.hpp"
#include "page_fixture.hpp"
#include "support/catch.hpp"

using namespace weft::bench;
using namespace weft::bench::page;
using weft::tests::contains;

namespace {

/// A series at x = 1 with a value of each run, each with a spread of `share` on both sides.
figure_series made_series(std::string name, const std::vector<double>& runs, double share = 0.01) {
  value at{.x = 1};
  for (const double y : runs)
    at.runs.push_back({.run = static_cast<int>(at.runs.size()) + 1,
                       .y = y,
                       .low = y * (1 - share),
                       .high = y * (1 + share)});
  at.y = runs.front();
  return {.name = std::move(name), .points = {at}, .like = {}, .source = {}};
}

claim compares(const char* left, relation is, const char* right) {
  claim result{.text = "so", .left = {}, .right = {}, .is = is, .paper = {}};
  result.left.series = left;
  result.right.series = right;
  result.left.x = result.right.x = 1;
  return result;
}

outcome judged(const std::vector<double>& left, relation is, const std::vector<double>& right,
               double share = 0.01) {
  const figure in{.all = {made_series("left", left, share), made_series("right", right, share)},
                  .notes = {}};
  return judge(compares("left", is, "right"), in, "µs").is;
}

}  // namespace

TEST_CASE("of few runs all values within the spreads have to agree", "[report]") {
  CHECK(judged({1}, relation::below, {2}) == outcome::holds);
  CHECK(judged({2}, relation::below, {1}) == outcome::fails);
  CHECK(judged({1}, relation::below, {1.01}) == outcome::undecided);
  CHECK(judged({1, 2}, relation::below, {2, 1}) == outcome::undecided);
  CHECK(judged({1, 1.1}, relation::above, {2, 2.2}) == outcome::fails);
}

TEST_CASE("near is decided only where both spreads lie inside or outside of a tenth", "[report]") {
  CHECK(judged({1}, relation::near, {1.02}) == outcome::holds);
  CHECK(judged({1}, relation::near, {1.5}) == outcome::fails);
  CHECK(judged({1}, relation::near, {1.1}) == outcome::undecided);
  // Outside on either side, so inside is possible.
  CHECK(judged({1}, relation::near, {1.3}, 0.5) == outcome::undecided);
}

TEST_CASE("of enough runs the medians have to agree, of many all but one", "[report]") {
  const double wide = 0.5;
  CHECK(judged({1, 1, 1, 1}, relation::below, {1.1, 1.1, 1.1, 1.1}, wide) == outcome::undecided);
  CHECK(judged({1, 1, 1, 1, 1}, relation::below, {1.1, 1.1, 1.1, 1.1, 1.1}, wide) ==
        outcome::holds);
  CHECK(judged({1, 1, 1, 1, 2}, relation::below, {1.1, 1.1, 1.1, 1.1, 1.1}, wide) ==
        outcome::undecided);
  CHECK(judged({1, 1, 1, 1, 1, 1, 1, 2}, relation::below, {1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1},
               wide) == outcome::holds);
  CHECK(judged({1, 1, 1, 1, 1, 1, 2, 2}, relation::below, {1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1},
               wide) == outcome::undecided);
}

TEST_CASE("runs are compared in pairs, so a drift of both decides nothing", "[report]") {
  CHECK(judged({1, 2, 3, 4, 5}, relation::below, {1.1, 2.2, 3.3, 4.4, 5.5}, 0.5) == outcome::holds);
}

TEST_CASE("a number or a value without a spread takes part in a verdict", "[report]") {
  figure in{.all = {made_series("left", {1})}, .notes = {}};
  claim what = compares("left", relation::below, "right");
  what.right = {.series = {}, .x = {}, .number = 1.005};
  CHECK(judge(what, in, "µs").is == outcome::undecided);
  what.right.number = 1.2;
  CHECK(judge(what, in, "µs").is == outcome::holds);
  CHECK(judge(what, in, "µs").here == "1 against 1.2 µs");
  in.all[0].points[0].runs[0].low = weft::plot::no_value;
  CHECK(judge(what, in, "µs").is == outcome::undecided);
  CHECK_THAT(judge(what, in, "µs").here, contains("no spread"));
  in.all = {made_series("left", {1, 1, 1, 1, 1}, 9)};
  CHECK(judge(what, in, "µs").is == outcome::holds);
  CHECK(judge(what, in, "µs").here == "1 against 1.2 µs, 5 runs");
  in.all.clear();
  CHECK(judge(what, in, "µs").is == outcome::not_measured);
}

TEST_CASE("a control says where the cause of a failure is", "[report]") {
  const auto with = [](const std::vector<double>& raw) {
    return figure{.all = {made_series("left", {2}), made_series("right", {1}),
                          made_series("raw left", raw), made_series("raw right", {1})},
                  .notes = {}};
  };
  claim what = compares("left", relation::below, "right");
  CHECK(judge(what, with({1}), "µs").cause == cause_place::unknown);
  const claim raw = compares("raw left", relation::below, "raw right");
  what.control = {.text = "the bare device is", .left = raw.left, .right = raw.right, .is = raw.is};
  const verdict weft = judge(what, with({0.5}), "µs");
  CHECK(weft.is == outcome::fails);
  CHECK(weft.cause == cause_place::weft);
  CHECK_THAT(weft.why, contains("the bare device is (0.5 against 1 µs)"));
  CHECK(judge(what, with({2}), "µs").cause == cause_place::machine);
  what.cause = cause_place::method;
  what.why = "It measures something else.";
  CHECK(judge(what, with({2}), "µs").cause == cause_place::machine);
  const verdict open = judge(what, with({1}), "µs");
  CHECK(open.cause == cause_place::method);
  CHECK(open.open);
  CHECK_THAT(open.why, contains("Its control is not decided"));
  what.is = relation::above;
  CHECK(judge(what, with({2}), "µs").why == "");
  what.right = what.left;
  CHECK(judge(what, with({2}), "µs").is == outcome::undecided);
  CHECK(judge(what, with({2}), "µs").why == "It measures something else.");
}

TEST_CASE("without a control the sides of a claim may say its cause", "[report]") {
  figure in{.all = {made_series("left", {2}), made_series("right", {1})}, .notes = {}};
  const claim what = compares("left", relation::below, "right");
  in.all[1].role = series_role::peer;
  CHECK(judge(what, in, "µs").cause == cause_place::weft);
  in.all[0].role = series_role::raw;
  CHECK(judge(what, in, "µs").cause == cause_place::machine);
  in.all[1].role = series_role::weft;
  CHECK(judge(what, in, "µs").cause == cause_place::unknown);
}

TEST_CASE("the commands of claims run twice, those of open claims more often", "[report]") {
  const std::vector<paper> papers{read_paper(weft::tests::example_paper())};
  auto measured = weft::tests::example_records();
  record& turns = measured["example.turns"];
  using names = std::set<std::string>;
  CHECK(commands_to_repeat(papers, measured) == names{"example.turns"});
  const record once = turns;
  add_run(turns, once);
  // The one against 0.1 of the larger side is open.
  CHECK(commands_to_repeat(papers, measured) == names{"example.turns"});
  while (turns.runs < most_runs) add_run(turns, once);
  CHECK(commands_to_repeat(papers, measured).empty());
  turns = once;
  turns.problem = "it ended";
  CHECK(commands_to_repeat(papers, measured).empty());
}

TEST_CASE("what has been decided does not run a third time", "[report]") {
  auto description = weft::tests::example_paper();
  auto& claims = description["experiments"][0]["claims"];
  claims.erase(claims.begin() + 1);
  description["experiments"].erase(1);
  const std::vector<paper> papers{read_paper(description)};
  auto measured = weft::tests::example_records();
  record& turns = measured["example.turns"];
  CHECK(commands_to_repeat(papers, measured).size() == 1);
  const record once = turns;
  add_run(turns, once);
  CHECK(commands_to_repeat(papers, measured).empty());
}

TEST_CASE("the load is read out of the kernel's times", "[report]") {
  const auto times =
      parse_cpu_times("intr 1 2\ncpu  1000 200 300 9000 50 10 20 70 5 0\ncpu0 1 1\n", 100);
  REQUIRE(times);
  CHECK(times->user == 12);
  CHECK(times->system == weft::tests::Approx(3.3));
  CHECK(times->stolen == weft::tests::Approx(0.7));
  CHECK_FALSE(parse_cpu_times("cpu0 1 1\n", 100));
  CHECK(busy_limit() == weft::tests::Approx(0.1 * own_cores()));
}

TEST_CASE("cores are some distance apart, where there are two", "[report]") {
  core_distance cores(std::chrono::seconds(0));
  const auto first = cores.come_near();
  CHECK(first.has_value() == (own_cores() > 1));
  if (first) CHECK(*first > 0);
}
