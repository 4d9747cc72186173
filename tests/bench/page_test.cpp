// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "html/html.hpp"
#include "html/picture.hpp"
#include "page/plan.hpp"
#include "page_fixture.hpp"
#include "support/catch.hpp"
#include "xml.hpp"

using namespace weft::bench;
using namespace weft::bench::page;
using weft::tests::contains;
using weft::tests::count_of;
using weft::tests::example_paper;
using weft::tests::example_records;

TEST_CASE("a page names the commands that ran with cores far apart", "[report]") {
  const auto note = [](double farthest) {
    records measured;
    measured["paper.near"].line_ns = 40;
    measured["paper.other"].line_ns = farthest;
    return html_of(std::vector<paper>{}, measured, json::object());
  };
  CHECK(note(59).find("from core to core") == std::string::npos);
  CHECK(note(165).find("up to 165 ns from core to core, and 40 ns at best") != std::string::npos);
  CHECK(note(165).find("paper.other") != std::string::npos);
  CHECK(note(165).find("paper.near") == std::string::npos);
}

TEST_CASE("a page has a picture with every series, a verdict for each claim, and what is missing") {
  const std::vector<paper> papers{read_paper(example_paper())};
  const std::string html = html_of(papers, example_records(), {{"cores", "2"}});
  CHECK(weft::tests::xml_fault(html) == "");
  CHECK(count_of("<svg ", html) == 2);
  CHECK(count_of("data-series=\"4\"", html) == 1);  // of the second picture, slow is the unit
  CHECK(count_of("data-series=\"1\"", html) == 1);
  CHECK(count_of("<g class=\"series ", html) == 5);
  CHECK(count_of("data-verdict=\"holds\"", html) == 2);
  CHECK(count_of("data-verdict=\"undecided\"", html) == 1);
  CHECK(count_of("data-verdict=\"not measured\"", html) == 1);
  CHECK_THAT(html, contains("<b>2 of 4</b>"));
  CHECK_THAT(html, contains("1 is undecided, 1 was not measured"));
  CHECK_THAT(html, contains("the paper says nothing"));
  CHECK_THAT(html, contains("MPICH: left out, since it is not here."));
  CHECK_THAT(html, contains("no &lt;device&gt;"));
  CHECK_THAT(html, contains("no such machine"));
  CHECK_THAT(html, contains("here: 1 against 2 µs · paper: 1 against 2"));
  CHECK_THAT(html, contains("A &lt;paper&gt; &amp; more"));
  // The paper's column first: on a phone the others are scrolled to.
  CHECK_THAT(html, contains("message size</th><th scope=\"col\">paper: fast</th>"));
  CHECK(count_of("<script", html) == 0);
  CHECK(count_of("http", html) == count_of("http://www.w3.org/2000/svg", html));
}

TEST_CASE("a page without any result says so everywhere") {
  const std::vector<paper> papers{read_paper(example_paper())};
  const std::string html = html_of(papers, {}, json::object());
  CHECK(weft::tests::xml_fault(html) == "");
  CHECK(count_of("data-verdict=\"not measured\"", html) == 4);
  CHECK_THAT(html, contains("<b>0 of 4</b>"));
  CHECK_THAT(html, contains("turns was not run"));
}

TEST_CASE("values are selected by the keys of lines, relative ones divided at the same x") {
  const paper of = read_paper(example_paper());
  const figure one = figure_of(of, of.experiments[0], example_records());
  REQUIRE(value_at(one, "fast", 4096));
  CHECK(value_at(one, "fast", 4096)->y == 9.5);
  CHECK(value_at(one, "fast", 4)->high == 1.2);
  CHECK_FALSE(value_at(one, "absent", 4));
  const figure two = figure_of(of, of.experiments[1], example_records());
  CHECK(value_at(two, "fast", 4)->y == weft::tests::Approx(0.5));
  CHECK(value_at(two, "slow", 4)->y == weft::tests::Approx(1));
}

TEST_CASE("several lines for one place become their median, with a note") {
  const paper of = read_paper(example_paper());
  auto measured = example_records();
  for (const double us : {3.0, 20.0})
    measured["example.turns"].lines.push_back({{"way", "fast"}, {"size", 4}, {"us", us}});
  const figure one = figure_of(of, of.experiments[0], measured);
  CHECK(value_at(one, "fast", 4)->y == 3);
  REQUIRE(!one.notes.empty());
  CHECK_THAT(one.notes[0], contains("up to 3 lines"));
}

TEST_CASE("lines of further runs are values of their own, and the value is their median") {
  const paper of = read_paper(example_paper());
  auto measured = example_records();
  for (const double us : {3.0, 20.0})
    add_run(measured["example.turns"], {.command = {},
                                        .seconds = 1,
                                        .problem = {},
                                        .lines = {{{"way", "fast"}, {"size", 4}, {"us", us}}}});
  CHECK(measured["example.turns"].runs == 3);
  CHECK(measured["example.turns"].seconds == 4);
  const figure one = figure_of(of, of.experiments[0], measured);
  REQUIRE(value_at(one, "fast", 4));
  CHECK(value_at(one, "fast", 4)->y == 3);
  REQUIRE(value_at(one, "fast", 4)->runs.size() == 3);
  CHECK(value_at(one, "fast", 4)->runs[2].y == 20);
  CHECK(value_at(one, "fast", 4)->runs[2].run == 3);
  CHECK_FALSE(one.notes.empty());
  CHECK(count_of("up to", one.notes[0]) == 0);
}

TEST_CASE("the values of a line's rounds are its spread, unless they are too few") {
  const paper of = read_paper(example_paper());
  auto measured = example_records();
  auto& lines = measured["example.turns"].lines;
  lines.clear();
  lines.push_back(
      {{"way", "fast"}, {"size", 4}, {"us", 2}, {"metric", "us"}, {"rounds", {1, 2, 3}}});
  lines.push_back({{"way", "fast"}, {"size", 8}, {"us", 2}, {"metric", "us"}, {"rounds", {1, 3}}});
  experiment what = of.experiments[0];
  what.series[0].spread.reset();
  const figure one = figure_of(of, what, measured);
  CHECK(value_at(one, "fast", 4)->low == weft::tests::Approx(1.2));
  CHECK(value_at(one, "fast", 4)->high == weft::tests::Approx(2.8));
  CHECK(std::isnan(value_at(one, "fast", 8)->low));
}

TEST_CASE("text of the page has the apostrophes of print, and options are not broken") {
  CHECK(prose("weft's <own>") == "weft’s &lt;own&gt;");
  CHECK(prose("it needs (--nas FOLDER) -- so") ==
        "it needs (<span class=\"option\">--nas</span> FOLDER) -- so");
}

TEST_CASE("places that are sizes are in ascending order, other texts as they come") {
  const auto places = [](std::vector<json> xs) {
    figure shown;
    figure_series& all = shown.all.emplace_back();
    for (json& x : xs) all.points.push_back({.x = std::move(x), .y = 1});
    return places_of(shown);
  };
  CHECK(places({"16 KiB", "512 B", "1 MiB", "2 KiB"}) ==
        std::vector<json>{"512 B", "2 KiB", "16 KiB", "1 MiB"});
  CHECK(places({"2 KiB", "1 KiB or so"}) == std::vector<json>{"2 KiB", "1 KiB or so"});
}

TEST_CASE("a wrong description is refused with the place of its fault") {
  const auto refused = [](auto change, const std::string& text) {
    json wrong = example_paper();
    change(wrong);
    CHECK_THROWS_WITH(read_paper(wrong), contains(text));
  };
  refused([](json& in) { in["experiments"][0]["series"][1].erase("y"); },
          "experiments[0] (example-1): series[1] (slow): there is no key \"y\"");
  refused([](json& in) { in["experiments"][0]["kind"] = "pie"; }, "it can be lines, bars, table");
  refused([](json& in) { in["experiments"][0]["series"][0]["command"] = "tunrs"; },
          "there is no command \"tunrs\"");
  refused([](json& in) { in["experiments"][0]["claims"][0]["left"]["series"] = "fats"; },
          "there is no series \"fats\"; there are: paper: fast, fast, slow, absent");
  refused(
      [](json& in) {
        in["experiments"][0]["paper"][0]["points"] = {1, 2};
      },
      "a point is [x, y]");
  refused([](json& in) { in["commands"]["../x"] = in["commands"]["gone"]; }, "also a file's");
  refused([](json& in) { in["experiments"][0]["claims"] = json::array(); },
          "(example-1): it needs \"claims\", or \"no_claim\"");
  refused([](json& in) { in["experiments"][0]["no_claim"] = "so"; }, "it needs \"claims\", or");
  refused([](json& in) { in["experiments"][0]["claims"][0]["cause"] = "weft"; },
          "\"cause\" and \"why\" belong together");
  refused([](json& in) { in = 3; }, "this is no object");
}

TEST_CASE("a key that a description cannot have is refused, with a near one") {
  const auto refused = [](const char* place, const char* key, const std::string& text) {
    json wrong = example_paper();
    wrong[json::json_pointer(place)][key] = 1;
    CHECK_THROWS_WITH(read_paper(wrong), contains(text));
  };
  refused("", "experimets", "there can be no key \"experimets\"; is it \"experiments\"?");
  refused("/experiments/0", "relative",
          "experiments[0] (example-1): there can be no key \"relative\"; there can be: id, ");
  refused("/experiments/0/series/1", "slect",
          "(example-1): series[1] (slow): there can be no key \"slect\"; is it \"select\"?");
  refused("/experiments/0/paper/0", "soruce",
          "paper[0] (paper: fast): there can be no key \"soruce\"; is it \"source\"?");
  refused("/experiments/0/claims/0", "note",
          "claims[0] (fast is faster): there can be no key \"note\"");
  refused("/experiments/0/claims/0/left", "value", "\"left\": there can be no key \"series\"");
  refused("/experiments/1/y", "units", "\"y\": there can be no key \"units\"; is it \"unit\"?");
  refused("/commands/gone", "timeout", "command gone: there can be no key \"timeout\"");
  refused("/unavailable/0", "because",
          "unavailable[0] (Figure 3): there can be no key \"because\"");
}

TEST_CASE("each command runs once, also when several series and experiments use it") {
  const std::vector<paper> papers{read_paper(example_paper())};
  const auto jobs = plan_of(papers, {.quick = true});
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].name == "example.turns");
  CHECK(jobs[0].shown == "weft-bench turns --rounds 1 --json");
}

TEST_CASE("only named papers and experiments are kept, and an unknown name lists them") {
  const std::vector<paper> all{read_paper(example_paper())};
  CHECK(chosen(all, {"example/2"}).at(0).experiments.size() == 1);
  CHECK(chosen(all, {"example"}).at(0).experiments.size() == 3);
  CHECK_THROWS_WITH(chosen(all, {"exmaple"}), contains("there are: example, example/example-1"));
}
