// SPDX-License-Identifier: Apache-2.0
#include "compare/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "output/table.hpp"

namespace weft::bench {
namespace {

std::string unit_of(const std::string& metric) {
  if (metric == "half_rtt_us") return "half round trip, µs";
  if (metric == "mmsg_s") return "M messages/s";
  if (metric == "mb_s") return "MB/s";
  if (metric == "excess_us") return "wait beyond the transfer, µs";
  if (metric == "beyond_copy") return "slow-down beyond the copy";
  if (metric == "beyond_us") return "µs a call beyond the computation";
  if (metric == "us_per_message") return "µs a message";
  if (metric == us_per_call) return "µs a call";
  if (metric == ms_per_job) return "ms a job";
  if (metric == solve_ms) return "ms a solution";
  if (metric == mop_s) return "M operations/s";
  return metric;
}

std::string title_of(const cell& where) {
  return where.pattern.empty() ? where.series : where.series + ' ' + where.pattern;
}

std::string shown_metric(const cell& where) {
  return metric_of(bench_of(where.series), where.pattern);
}

std::string unit_of(const cell& where, const std::string& metric) {
  return metric == mean_metric ? "mean: " + unit_of(shown_metric(where)) : unit_of(metric);
}

/// A barrier has no size.
std::string size_of(const cell& where) { return where.size == 0 ? "" : size_text(where.size); }

std::string figure_or_gap(std::optional<double> value) { return value ? figure_text(*value) : "-"; }

std::string bound_text(const target& promise) {
  const char* sign = promise.direction == target::sense::at_most ? "≤" : "≥";
  const char* times = promise.to == target::reference::absolute ? "" : " ×";
  return fmt::format("{} {}{}", sign, promise.bound, times);
}

std::string ratio_text(const std::optional<ratio>& value) {
  if (!value) return "-";
  return fmt::format("{:.3g} ({:.3g}–{:.3g})", value->median, value->p10, value->p90);
}

const char* outcome_text(verdict::outcome outcome) {
  switch (outcome) {
    case verdict::outcome::met:
      return "met";
    case verdict::outcome::falls_short:
      return "falls short";
    case verdict::outcome::not_measured:
      break;
  }
  return "not measured";
}

/// The version that it reported, if it did.
std::string library_of(const results& measured, const contestant& who) {
  for (const auto& where : measured.cells())
    if (const auto line = measured.sample_line(where, who.name); line.is_object())
      if (const auto found = line.value("library", std::string()); !found.empty()) return found;
  return {};
}

/// A table for each series, because each has its own contestants: not every limit supports every
/// series.
void print_series(const results& measured, const std::vector<contestant>& contestants,
                  const std::string& series, bool shows_means) {
  std::vector<cell> cells;
  for (const auto& where : measured.cells())
    if (where.series == series) cells.push_back(where);
  std::vector<std::string> columns;
  for (const auto& who : contestants)
    if (std::any_of(cells.begin(), cells.end(), [&](const cell& where) {
          return measured.sample_line(where, who.name).is_object();
        }))
      columns.push_back(who.name);

  std::vector<std::string> headers{series, "size", "unit"};
  headers.insert(headers.end(), columns.begin(), columns.end());
  table out(headers);
  for (const auto& where : cells) {
    std::vector<std::string> metrics{shown_metric(where)};
    if (shows_means) metrics.emplace_back(mean_metric);
    for (const auto& metric : metrics) {
      std::vector<std::string> row{where.pattern, size_of(where), unit_of(where, metric)};
      for (const auto& name : columns)
        row.push_back(figure_or_gap(measured.median_of(where, name, metric)));
      out.row(std::move(row));
    }
  }
  out.print(stdout);
  fmt::print("\n");
}

/// The figure that every line has.
void add_carried_figure(json& line, const json& from) {
  for (const auto key : {half_rtt_us, mmsg_s, mb_s, us_per_call, ms_per_job, solve_ms, mop_s})
    if (from.is_object() && from.contains(key)) line[std::string(key)] = from[std::string(key)];
}

json head_of(const std::string& bench, const cell& where, const std::string& transport,
             const json& from) {
  json line = {
      {"bench", bench},
      {"transport", transport},
      {"progress", from.is_object() ? from.value("progress", std::string()) : std::string()},
      {"size", where.size},
      {"series", where.series}};
  if (!where.pattern.empty()) line["pattern"] = where.pattern;
  add_carried_figure(line, from);
  return line;
}

json as_json(const ratio& value) {
  return {{"median", value.median}, {"p10", value.p10}, {"p90", value.p90}};
}

/// The ratios of `own` to each of the others, by name.
json ratios_of(const results& measured, const cell& where, const std::string& metric,
               const std::vector<contestant>& contestants, const std::string& own) {
  json all = json::object();
  for (const auto& who : contestants) {
    if (who.name == own) continue;
    const auto value = paired_ratio(measured.rounds_of(where, own, metric),
                                    measured.rounds_of(where, who.name, metric));
    if (value) all[who.name] = as_json(*value);
  }
  return all;
}

}  // namespace

void print_figures(const results& measured, const std::vector<contestant>& contestants,
                   bool shows_means) {
  std::vector<std::string> seen;
  for (const auto& where : measured.cells()) {
    if (std::find(seen.begin(), seen.end(), where.series) != seen.end()) continue;
    seen.push_back(where.series);
    print_series(measured, contestants, where.series, shows_means);
  }

  table about({"contestant", "what it is", "version"});
  about.left_from(1);
  for (const auto& who : contestants) about.row({who.name, who.about, library_of(measured, who)});
  about.print(stdout);
  fmt::print("\n");
}

void print_ratios(const results& measured, const std::vector<contestant>& contestants,
                  const std::string& own) {
  std::vector<std::string> headers{own + " to", "size"};
  for (const auto& who : contestants)
    if (who.name != own) headers.push_back(who.name);
  headers.emplace_back("of");
  table out(headers);
  out.left_from(headers.size() - 1);
  for (const auto& where : measured.cells()) {
    const auto metric = shown_metric(where);
    // The figures of overlap are differences that should be zero.
    if (bench_of(where.series) == "overlap" || !measured.sample_line(where, own).is_object())
      continue;
    std::vector<std::string> row{title_of(where), size_of(where)};
    for (const auto& who : contestants)
      if (who.name != own)
        row.push_back(ratio_text(paired_ratio(measured.rounds_of(where, own, metric),
                                              measured.rounds_of(where, who.name, metric))));
    row.push_back(unit_of(metric));
    out.row(std::move(row));
  }
  out.print(stdout);
  fmt::print("\n");
}

void print_failures(const results& measured) {
  if (!measured.failures().empty()) fmt::print("\nLeft out:\n");
  for (const auto& one : measured.failures())
    fmt::print("{}, of {}{}: {}\n", one.contestant, one.of, one.wrong ? ", WRONG" : "", one.reason);
}

void print_verdicts(const std::vector<verdict>& verdicts) {
  if (verdicts.empty()) return;
  table out({"target", "size", "of", "figure", "other", "ratio (p10–p90)", "target is", "",
             "against", "unit"});
  out.left_from(7);
  for (const auto& one : verdicts) {
    const bool absolute = one.promise.to == target::reference::absolute;
    out.row({title_of(one.where), size_of(one.where), one.who, figure_or_gap(one.own),
             figure_or_gap(one.other), absolute ? "" : ratio_text(one.to_other),
             bound_text(one.promise), outcome_text(one.result), one.reference,
             unit_of(one.where, one.promise.metric)});
  }
  out.print(stdout);
}

void print_json(const std::string& bench, const std::string& transport, const results& measured,
                const std::vector<contestant>& contestants, const std::string& own,
                const std::vector<verdict>& verdicts) {
  for (const auto& where : measured.cells()) {
    const auto metric = shown_metric(where);
    for (const auto& who : contestants) {
      const auto sample = measured.sample_line(where, who.name);
      if (!sample.is_object()) continue;
      json line = head_of(bench, where, transport, sample);
      line["contestant"] = who.name;
      line["about"] = who.about;
      line["metric"] = metric;
      line[metric] = measured.median_of(where, who.name, metric).value_or(std::nan(""));
      line["rounds"] = measured.rounds_of(where, who.name, metric);
      if (const auto mean = measured.median_of(where, who.name, mean_metric))
        line[mean_metric] = *mean;
      for (const char* key : {"library", "ranks", "class", "verified", "error"})
        if (sample.contains(key)) line[key] = sample[key];
      if (who.name == own)
        if (auto ratios = ratios_of(measured, where, metric, contestants, own); !ratios.empty())
          line["ratios"] = std::move(ratios);
      print_line(line);
    }
  }
  for (const auto& one : verdicts) {
    json line = head_of(bench, one.where, transport, {});
    line["metric"] = one.promise.metric;
    line[one.promise.metric] = one.own ? json(*one.own) : json();
    line["target"] = bound_text(one.promise);
    line["of"] = one.who;
    line["against"] = one.reference;
    if (one.to_other) line["ratio"] = as_json(*one.to_other);
    line["outcome"] = outcome_text(one.result);
    print_line(line);
  }
  for (const auto& one : measured.failures())
    print_line({{"bench", bench},
                {"transport", transport},
                {"contestant", one.contestant},
                {"left_out", one.of},
                {"wrong", one.wrong},
                {"reason", one.reason}});
}

}  // namespace weft::bench
