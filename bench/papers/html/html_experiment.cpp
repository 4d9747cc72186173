// SPDX-License-Identifier: Apache-2.0
// One experiment of the page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "html/html.hpp"
#include "html/picture.hpp"
#include "measure/progress_line.hpp"
#include "plot/text.hpp"

namespace weft::bench::page {
namespace {

using plot::escaped;

struct mark {
  const char* css;
  const char* sign;
  const char* word;
};

mark mark_of(outcome is) {
  const char* word = name_of(is);
  switch (is) {
    case outcome::holds:
      return {"good", "✓ ", word};
    case outcome::fails:
      return {"bad", "✗ ", word};
    case outcome::undecided:
      return {"none", "~ ", word};
    case outcome::not_measured:
      break;
  }
  return {"none", "", word};
}

std::string claims_of(const result& what) {
  if (what.what->claims.empty())
    return fmt::format("<p class=\"small\"><span class=\"soft\">No claim:</span> {}</p>\n",
                       prose(what.what->no_claim));
  std::string html = "<ul class=\"claims\">\n";
  for (std::size_t i = 0; i != what.what->claims.size(); ++i) {
    const claim& one = what.what->claims[i];
    const verdict& made = what.verdicts[i];
    const mark shown = mark_of(made.is);
    html += fmt::format("<li data-verdict=\"{0}\"><span class=\"badge {1}\">{2}{0}</span>{3}",
                        shown.word, shown.css, shown.sign, prose(one.text));
    std::vector<std::string> figures;
    if (!made.here.empty()) figures.push_back("here: " + prose(made.here));
    if (!one.paper.empty()) figures.push_back("paper: " + prose(one.paper));
    if (!figures.empty())
      html += fmt::format("<span class=\"figures\">{}</span>", fmt::join(figures, " · "));
    if (made.is == outcome::fails || made.cause != cause_place::unknown)
      html += fmt::format("<span class=\"figures\" data-cause=\"{0}\">{3}: <b>{0}</b>{1}{2}</span>",
                          name_of(made.cause), made.why.empty() ? "" : ". ", prose(made.why),
                          made.is == outcome::fails ? "cause" : "likely cause");
    html += "</li>\n";
  }
  return html + "</ul>\n";
}

/// Where the quoted values come from, and what the picture cannot say itself.
std::string caption_of(const result& what) {
  std::set<std::string> sources;
  for (const auto& one : what.shown.all)
    if (one.quoted && !one.source.empty()) sources.insert(one.source);
  // Of "section 5" and "section 5: about 10 µs" the latter says all.
  std::erase_if(sources, [&](const std::string& one) {
    const auto longer = sources.upper_bound(one);
    return longer != sources.end() && longer->starts_with(one + ':');
  });
  std::string text;
  const bool spreads =
      std::any_of(what.shown.all.begin(), what.shown.all.end(), [](const figure_series& one) {
        return std::any_of(one.points.begin(), one.points.end(),
                           [](const value& at) { return std::isfinite(at.low); });
      });
  if (spreads)
    text += what.what->kind == picture_kind::bars    ? "Whiskers: 10th to 90th percentile. "
            : what.what->kind == picture_kind::lines ? "Bands: 10th to 90th percentile. "
                                                     : "In small print: 10th to 90th percentile. ";
  const bool quoted = std::any_of(what.shown.all.begin(), what.shown.all.end(),
                                  [](const figure_series& one) { return one.quoted; });
  if (quoted && what.what->kind != picture_kind::table)
    text += fmt::format("Dashed and hollow: the paper’s values on its machine{}. ",
                        sources.empty() ? "" : fmt::format(" ({})", fmt::join(sources, "; ")));
  if (!quoted) text += "The paper’s text gives no values to draw. ";
  return text.empty() ? text : "<figcaption>" + prose(text) + "</figcaption>\n";
}

std::string notes_of(const result& what) {
  if (what.shown.notes.empty()) return {};
  std::string html = "<div class=\"problem\"><ul class=\"plain\">\n";
  for (const std::string& note : what.shown.notes)
    html += fmt::format("<li>{}</li>\n", prose(note));
  return html + "</ul></div>\n";
}

std::string commands_of(const result& what, const records& measured) {
  std::vector<std::string> names;
  for (const auto& one : what.what->series)
    if (std::find(names.begin(), names.end(), one.command) == names.end())
      names.push_back(one.command);
  if (names.empty()) return {};
  std::string html;
  for (const std::string& name : names) {
    const auto found = measured.find(what.of->id + '.' + name);
    if (found == measured.end()) continue;
    const record& one = found->second;
    html += fmt::format("<pre>{}</pre>\n", escaped(one.command));
    if (!one.ok())
      html += fmt::format("<div class=\"problem\">It gave {}:<pre>{}</pre></div>\n",
                          one.lines.empty() ? "no result" : "a part of its results",
                          escaped(one.problem));
    else
      html += fmt::format("<p class=\"small soft\">It took {}{}.</p>\n", duration_text(one.seconds),
                          one.runs > 1 ? fmt::format(" in {} runs", one.runs) : "");
  }
  return html.empty() ? html : "<details><summary>Repeat it</summary>\n" + html + "</details>\n";
}

}  // namespace

std::string values_table(const result& what) {
  const experiment& of = *what.what;
  // The paper's first: on a phone the rest is scrolled to.
  std::vector<figure_series> columns = what.shown.all;
  std::stable_partition(columns.begin(), columns.end(),
                        [](const figure_series& one) { return one.quoted; });
  std::string html = "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">";
  html += escaped(of.x.label) + "</th>";
  for (const auto& one : columns)
    html += fmt::format("<th scope=\"col\">{}</th>", escaped(one.name));
  html += "</tr></thead>\n<tbody>\n";
  const std::string unit = shown_unit(of);
  for (const json& x : places_of(what.shown)) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(place_text(x, of.x.unit)));
    for (const auto& one : columns) {
      const auto found = std::find_if(one.points.begin(), one.points.end(),
                                      [&](const value& at) { return at.x == x; });
      if (found == one.points.end()) {
        html += "<td></td>";
        continue;
      }
      html += "<td>" + plot::value_text(found->y, unit);
      if (std::isfinite(found->low) && std::isfinite(found->high))
        html +=
            fmt::format("<span class=\"soft\">{} to {}</span>", plot::value_text(found->low, unit),
                        plot::value_text(found->high, unit));
      html += "</td>";
    }
    html += "</tr>\n";
  }
  const std::string meaning = of.y.label +
                              (of.relative_to.empty() ? "" : " relative to " + of.relative_to) +
                              (unit.empty() ? "" : " in " + unit);
  return html + "</tbody></table></div>\n<p class=\"small soft\">" + escaped(meaning) + "</p>\n";
}

std::string html_of(const result& what, const records& measured) {
  const experiment& of = *what.what;
  std::string html =
      fmt::format("<article id=\"{}\">\n<h3><span class=\"label\">{}</span> {}</h3>\n<p>{}</p>\n",
                  escaped(of.id), escaped(of.label), prose(of.title), prose(of.shows));
  html += notes_of(what);
  const bool any = !places_of(what.shown).empty();
  if (any) {
    html += "<figure>\n";
    html += of.kind == picture_kind::table ? values_table(what)
                                           : plot::svg_of(picture_of(of, what.shown), false);
    html += caption_of(what) + "</figure>\n";
  }
  html += claims_of(what);
  if (any && of.kind != picture_kind::table)
    html += "<details><summary>Values</summary>\n" + values_table(what) + "</details>\n";
  html += commands_of(what, measured);
  return html + "</article>\n";
}

}  // namespace weft::bench::page
