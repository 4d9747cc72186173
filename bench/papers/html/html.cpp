// SPDX-License-Identifier: Apache-2.0
#include "html/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plot/text.hpp"

namespace weft::bench::page {
namespace {

using plot::escaped;

std::string plural(int count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string score_of(const tally& all) {
  std::string rest;
  if (all.differ > 0) rest += fmt::format("{} {} not", all.differ, all.differ == 1 ? "does" : "do");
  if (all.not_measured > 0)
    rest += fmt::format("{}{} not measured", rest.empty() ? "" : ", ",
                        all.not_measured == 1 ? "1 was" : fmt::format("{} were", all.not_measured));
  return fmt::format(
      "<p class=\"score\" data-agree=\"{0}\" data-claims=\"{1}\"><b>{0} of {1}</b> <span>claims of "
      "the "
      "papers hold here{2}.</span></p>\n",
      all.agree, all.all(), rest.empty() ? "" : "; " + rest);
}

std::string facts_of(const json& machine) {
  std::string html = "<dl class=\"facts\">\n";
  for (const auto& [name, text] : machine.items())
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name),
                        escaped(text.is_string() ? text.get<std::string>() : text.dump()));
  return html + "</dl>\n";
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
<li>Values are medians. Bands and whiskers reach from the 10th to the 90th percentile. Where the
spreads of a claim’s two sides overlap, noise may have decided its verdict; the claim says so.</li>
<li>“near” in a claim means: within ten percent.</li>
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
      "experiment that hold here: ✓ all of them, ✗ not all.</p>\n";
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
  if (is == outcome::agrees) ++agree;
  if (is == outcome::differs) ++differ;
  if (is == outcome::not_measured) ++not_measured;
}

void tally::add(const tally& other) noexcept {
  agree += other.agree;
  differ += other.differ;
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
  if (counts.agree + counts.differ == 0) return "<span class=\"badge none\">not measured</span>";
  if (counts.agree == counts.all())
    return fmt::format("<span class=\"badge good\">✓ {} of {}</span>", counts.agree, counts.all());
  const char* css = counts.differ > 0 ? "bad" : "none";
  return fmt::format("<span class=\"badge {}\">{}{} of {}</span>", css,
                     counts.differ > 0 ? "✗ " : "", counts.agree, counts.all());
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
  html += facts_of(machine) + "</header>\n" + contents_of(all) + "<main>\n";
  for (const auto& [of, results] : all) html += section_of(*of, results, measured);
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace weft::bench::page
