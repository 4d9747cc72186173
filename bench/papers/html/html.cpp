// SPDX-License-Identifier: Apache-2.0
#include "html/html.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "measure/core_distance.hpp"
#include "measure/load.hpp"
#include "plot/text.hpp"

namespace weft::bench::page {
namespace {

using plot::escaped;

std::string plural(int count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string score_of(const tally& all) {
  std::vector<std::string> rest;
  if (all.fail > 0)
    rest.push_back(fmt::format("{} {}", all.fail, all.fail == 1 ? "fails" : "fail"));
  if (all.undecided > 0)
    rest.push_back(
        fmt::format("{} {} undecided", all.undecided, all.undecided == 1 ? "is" : "are"));
  if (all.not_measured > 0)
    rest.push_back(fmt::format("{} {} not measured", all.not_measured,
                               all.not_measured == 1 ? "was" : "were"));
  return fmt::format(
      "<p class=\"score\" data-holds=\"{0}\" data-fails=\"{1}\" data-undecided=\"{2}\" "
      "data-claims=\"{3}\"><b>{0} of {3}</b> <span>claims of the papers hold here{4}.</span></p>\n",
      all.hold, all.fail, all.undecided, all.all(),
      rest.empty() ? "" : fmt::format("; {}", fmt::join(rest, ", ")));
}

/// What others used of the machine meanwhile.
std::string load_in_words(const records& measured) {
  double most = -1;
  for (const auto& [name, one] : measured) most = std::max(most, one.load.value_or(-1));
  if (most < 0) return "not recorded";
  return fmt::format("other processes used at most {:.2f} cores while commands ran", most);
}

/// The least distance of two cores, of all records; nothing if none has one.
std::optional<double> nearest(const records& measured) {
  std::optional<double> least;
  for (const auto& [name, one] : measured)
    if (one.line_ns) least = std::min(least.value_or(*one.line_ns), *one.line_ns);
  return least;
}

/// A note, if the cores were not always as near as that.
std::string distance_note(const records& measured) {
  const auto least = nearest(measured);
  std::vector<std::string> names;
  double most = 0;
  for (const auto& [name, one] : measured) {
    if (!least || one.line_ns.value_or(0) <= core_distance::far * *least) continue;
    names.push_back(name);
    most = std::max(most, *one.line_ns);
  }
  if (names.empty()) return {};
  return fmt::format(
      "<div class=\"problem\">\n<p>Before or after a run of these commands a cache line took up to "
      "{:.0f} ns from core to core, and {:.0f} ns at best: the host of this virtual machine moves "
      "its "
      "cores. Claims on their values are compared within a run: {}.</p>\n</div>\n",
      most, *least, prose(fmt::format("{}", fmt::join(names, ", "))));
}

std::string facts_of(const json& machine, const records& measured) {
  std::string html = "<dl class=\"facts\">\n";
  for (const auto& [name, text] : machine.items())
    if (name != "busy")
      html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name),
                          escaped(text.is_string() ? text.get<std::string>() : text.dump()));
  html += fmt::format("<dt>load</dt><dd>{}</dd>\n", escaped(load_in_words(measured)));
  return html + "</dl>\n";
}

/// A warning, if the machine was busy.
std::string busy_note(const json& machine, const records& measured) {
  std::vector<std::string> names;
  for (const auto& [name, one] : measured)
    if (one.load && *one.load > busy_limit()) names.push_back(name);
  std::string text;
  if (machine.contains("busy") && machine["busy"].is_string())
    text += fmt::format("<p>The machine was busy when the measurements began: {}.</p>\n",
                        prose(machine["busy"].get<std::string>()));
  if (!names.empty())
    text += fmt::format(
        "<p>While these commands ran others used more than {:.1f} cores, so their values may be "
        "wrong: {}.</p>\n",
        busy_limit(), prose(fmt::format("{}", fmt::join(names, ", "))));
  return text.empty() ? text : "<div class=\"problem\">\n" + text + "</div>\n";
}

/// With a place for the number of papers.
constexpr const char* introduction = R"(
<p>This page repeats the experiments of {} on message passing with weft, on one machine. Each picture
shows the values measured here (solid lines, filled shapes) beside those that the paper states (dashed
lines, hollow shapes).</p>
<details><summary>How to read the pictures</summary>
<ul class="plain">
<li>The papers’ machines are about twenty years old. Times are not comparable with theirs; the
shapes of curves, ratios and orders are. So verdicts compare values of one machine with each other.</li>
<li>Values are medians: of the samples of a run, and then of the runs. Bands and whiskers reach from
the 10th to the 90th percentile of a run’s samples.</li>
<li>A claim <b>holds</b> or <b>fails</b> only where noise cannot have decided that; else it is
<b>undecided</b>. Every command of a claim runs twice. With fewer than five runs all values within the
spreads must agree in each of them. Where they do not, the commands run up to nine times, and then the
medians of the runs must agree: all of five to seven, all but one of eight or nine. Of two speeds that
are equal chance would decide about one in ten.</li>
<li>“near” in a claim means: within ten percent.</li>
<li>A claim that fails names its cause. A <b>control</b> compares the same without weft (the bare
device, a plain copy): if it holds, the cause is weft; if it fails as well, it is the machine.</li>
<li>The figures of the papers are pictures without numbers. Only what their texts and tables state is
quoted here.</li>
<li>What needs an RDMA device was measured in a virtual machine with a soft one, if this machine has
none: there the processor does the device’s work, and everything is slower.</li>
<li>Pointing at a point shows its value; the values are also in a table under each picture.</li>
</ul></details>
)";

std::string contents_of(const std::vector<std::pair<const paper*, std::vector<result>>>& all) {
  std::string html =
      "<nav aria-label=\"Contents\">\n<p class=\"small soft\">The marks count the claims of an "
      "experiment that hold here: ✓ all of them, ✗ one fails, ~ one is undecided.</p>\n";
  for (const auto& [of, results] : all) {
    html +=
        fmt::format("<h3><a href=\"#{}\">{}</a></h3>\n<ol>\n", escaped(of->id), prose(of->title));
    for (const result& one : results)
      html += fmt::format("<li><a href=\"#{}\"><span class=\"label\">{}</span> {}</a>{}</li>\n",
                          escaped(one.what->id), escaped(one.what->label), prose(one.what->title),
                          badge_of(one));
    html += "</ol>\n";
  }
  return html + "</nav>\n";
}

std::string section_of(const paper& of, const std::vector<result>& results,
                       const records& measured) {
  std::string html =
      fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", escaped(of.id), prose(of.title));
  std::string origin = of.authors;
  if (!of.where.empty()) origin += (origin.empty() ? "" : ". ") + of.where;
  if (!of.year.empty() && of.where.find(of.year) == std::string::npos) origin += ", " + of.year;
  html += fmt::format("<p class=\"small soft\">{}</p>\n", escaped(origin));
  if (!of.machine.empty())
    html +=
        fmt::format("<p class=\"small\"><span class=\"soft\">The paper’s machine:</span> {}</p>\n",
                    prose(of.machine));
  for (const result& one : results) html += html_of(one, measured);
  if (!of.unavailable.empty()) {
    html += "<h3>Not repeated</h3>\n<ul class=\"plain\">\n";
    for (const auto& one : of.unavailable)
      html += fmt::format("<li><span class=\"label\">{}</span> {}</li>\n", escaped(one.label),
                          prose(one.why));
    html += "</ul>\n";
  }
  return html + "</section>\n";
}

}  // namespace

void tally::add(outcome is) noexcept {
  if (is == outcome::holds) ++hold;
  if (is == outcome::fails) ++fail;
  if (is == outcome::undecided) ++undecided;
  if (is == outcome::not_measured) ++not_measured;
}

void tally::add(const tally& other) noexcept {
  hold += other.hold;
  fail += other.fail;
  undecided += other.undecided;
  not_measured += other.not_measured;
}

tally result::counts() const noexcept {
  tally all;
  for (const verdict& one : verdicts) all.add(one.is);
  return all;
}

std::vector<result> results_of(const paper& of, const records& measured) {
  std::vector<result> results;
  for (const experiment& what : of.experiments) {
    result next{.of = &of, .what = &what, .shown = figure_of(of, what, measured), .verdicts = {}};
    for (const claim& one : what.claims)
      next.verdicts.push_back(judge(one, next.shown, unit_in_words(what)));
    results.push_back(std::move(next));
  }
  return results;
}

std::string badge_of(const result& what) {
  const tally counts = what.counts();
  const bool measured =
      std::any_of(what.shown.all.begin(), what.shown.all.end(),
                  [](const figure_series& one) { return !one.quoted && !one.points.empty(); });
  if (counts.all() == 0 && measured) return {};
  if (counts.not_measured == counts.all()) return "<span class=\"badge none\">not measured</span>";
  if (counts.hold == counts.all())
    return fmt::format("<span class=\"badge good\">✓ {} of {}</span>", counts.hold, counts.all());
  return fmt::format("<span class=\"badge {}\">{}{} of {}</span>", counts.fail > 0 ? "bad" : "none",
                     counts.fail > 0        ? "✗ "
                     : counts.undecided > 0 ? "~ "
                                            : "",
                     counts.hold, counts.all());
}

json verdicts_of(const std::vector<paper>& papers, const records& measured) {
  json all = json::array();
  for (const paper& of : papers)
    for (const result& one : results_of(of, measured))
      for (std::size_t i = 0; i != one.verdicts.size(); ++i) {
        const verdict& made = one.verdicts[i];
        json next = {{"experiment", one.what->id},
                     {"claim", one.what->claims[i].text},
                     {"verdict", name_of(made.is)},
                     {"here", made.here}};
        if (made.is == outcome::fails || made.cause != cause_place::unknown) {
          next["cause"] = name_of(made.cause);
          next["why"] = made.why;
        }
        all.push_back(std::move(next));
      }
  return all;
}

std::string html_of(const std::vector<paper>& papers, const records& measured,
                    const json& machine) {
  std::vector<std::pair<const paper*, std::vector<result>>> all;
  tally total;
  int experiments = 0;
  for (const paper& of : papers) {
    all.emplace_back(&of, results_of(of, measured));
    for (const result& one : all.back().second) {
      total.add(one.counts());
      ++experiments;
    }
  }
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>weft: the experiments of the papers, repeated</title>\n<style>" +
      style_of_page() +
      "</style>\n</head>\n<body>\n<header>\n<h1>The papers’ experiments, repeated</h1>\n";
  html += fmt::format(introduction, plural(static_cast<int>(papers.size()), "paper"));
  html += score_of(total);
  html += fmt::format("<p class=\"small soft\">{}, measured on:</p>\n",
                      plural(experiments, "experiment"));
  html += facts_of(machine, measured) + busy_note(machine, measured) + distance_note(measured) +
          "</header>\n" + contents_of(all) + "<main>\n";
  for (const auto& [of, results] : all) html += section_of(*of, results, measured);
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace weft::bench::page
