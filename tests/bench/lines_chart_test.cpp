// SPDX-License-Identifier: Apache-2.0
#include "page/lines_chart.hpp"
#include "support/catch.hpp"

using namespace weft::bench;
using namespace weft::bench::page;
using weft::tests::contains;

namespace {

std::vector<json> ways() {
  return parse_lines(R"(
{"bench":"progress","transport":"shm","progress":"polling","size":4,"half_rtt_us":0.1,"samples":5,"p10":0.09,"p50":0.1,"p90":0.2,"way":"basic"}
{"bench":"progress","transport":"shm","progress":"polling","size":4096,"half_rtt_us":0.7,"samples":5,"p10":0.6,"p50":0.7,"p90":0.9,"way":"basic"}
{"bench":"progress","transport":"shm","progress":"dedicated","size":4,"half_rtt_us":20,"samples":5,"p10":19,"p50":20,"p90":25,"way":"one thread"}
{"bench":"progress","transport":"shm","progress":"dedicated","size":4096,"half_rtt_us":30,"samples":5,"p10":28,"p50":30,"p90":36,"way":"one thread"}
{"left_out":"rate","reason":"not installed"}
)");
}

}  // namespace

TEST_CASE("a plot chooses sizes for x, the figure for y, and names series by what differs") {
  const weft::plot::chart made = chart_of(ways(), {});
  CHECK(made.x.label == "message size");
  CHECK(made.y.label == "half a round trip");
  CHECK(made.kind == weft::plot::chart_kind::lines);
  REQUIRE(made.all.size() == 2);
  CHECK(made.all[0].name == "basic");
  CHECK(made.all[1].name == "one thread");
  CHECK(made.all[0].points.at(1).high == 0.9);
  REQUIRE(made.notes.size() == 1);
  CHECK_THAT(made.notes[0], contains("1 of 5 lines"));
}

TEST_CASE("a plot of overlap shows the wait, and files are named only where nothing else differs") {
  std::vector<json> lines;
  for (const char* progress : {"polling", "dedicated"})
    for (const int size : {8, 64})
      lines.push_back({{"bench", "overlap"},
                       {"progress", progress},
                       {"size", size},
                       {"mb_s", 9.0},
                       {"excess_us", -1.0},
                       {"file", std::string(progress) + ".json"}});
  lines.push_back({{"bench", "overlap"}, {"progress", "polling"}, {"size", 8}, {"mb_s", 9.0}});
  const weft::plot::chart made = chart_of(lines, {});
  CHECK(made.y.label == "wait beyond the transfer");
  REQUIRE(made.all.size() == 2);
  CHECK(made.all[0].name == "polling");
}

TEST_CASE("a plot over names has bars, and what a name already says is no series") {
  const weft::plot::chart made = chart_of(ways(), {.x = "way"});
  CHECK(made.kind == weft::plot::chart_kind::bars);
  CHECK(made.categories == std::vector<std::string>{"basic", "one thread"});
  REQUIRE(made.all.size() == 2);
  CHECK(made.all[0].name == "4 B");
}

TEST_CASE("a relative plot shows multiples of one series at the same x") {
  const weft::plot::chart made = chart_of(ways(), {.relative_to = "basic"});
  REQUIRE(made.all.size() == 1);
  CHECK(made.all[0].points.at(0).y == weft::tests::Approx(200));
  CHECK(made.rule == 1.0);
}

TEST_CASE("a plot of a key that is not there names those that are") {
  chart_choice wanted;
  wanted.y = "halfrtt";
  CHECK_THROWS_WITH(chart_of(ways(), wanted),
                    contains("no line has halfrtt as a number") && contains("half_rtt_us"));
  wanted.y = "p90";
  wanted.x = "sice";
  CHECK_THROWS_WITH(chart_of(ways(), wanted), contains("no line has sice") && contains("size"));
  CHECK_THROWS_WITH(chart_of({}, {}), contains("--json"));
  CHECK_THROWS_WITH(chart_of(ways(), {.relative_to = "bsic"}),
                    contains("there are: basic; one thread"));
  CHECK_THROWS_WITH(chart_of(parse_lines("{\"a\":\"b\"}"), {}), contains("a figure that is known"));
}
