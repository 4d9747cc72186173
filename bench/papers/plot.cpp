// SPDX-License-Identifier: Apache-2.0
// weft-report plot: a picture of the JSON lines of any run of weft-bench.
#include <fmt/format.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "page/lines_chart.hpp"
#include "page/record.hpp"
#include "report.hpp"

namespace weft::bench {
namespace {

struct plot_request {
  std::vector<std::string> files;
  std::string out = "plot.svg";
  std::string kind;
  page::chart_choice choice;
};

std::vector<json> lines_of(const std::string& file) {
  if (file == "-") return parse_lines(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  const auto text = page::read_file(file);
  if (!text) throw std::invalid_argument(fmt::format("cannot read {}", file));
  return parse_lines(*text);
}

void act(const plot_request& wanted) {
  std::vector<json> lines;
  for (const std::string& file : wanted.files)
    for (json& line : lines_of(file)) {
      // Runs of the same command are told apart.
      if (wanted.files.size() > 1) line["file"] = file;
      lines.push_back(std::move(line));
    }
  page::chart_choice choice = wanted.choice;
  if (!wanted.kind.empty())
    choice.kind = wanted.kind == "bars" ? plot::chart_kind::bars : plot::chart_kind::lines;
  const plot::chart made = page::chart_of(lines, choice);
  const std::string svg = plot::svg_of(made, true);
  if (wanted.out == "-") {
    fmt::print("{}", svg);
    return;
  }
  page::write_file(wanted.out, svg);
  fmt::print("{}: {} over {}, {} series\n", wanted.out, made.y.label, made.x.label,
             made.all.size());
}

}  // namespace

void add_plot(CLI::App& app) {
  auto wanted = std::make_shared<plot_request>();
  auto* sub =
      app.add_subcommand("plot", "A picture (SVG) of JSON lines that weft-bench has printed");
  sub->add_option("files", wanted->files, "Files of JSON lines; - is standard input")->required();
  sub->add_option("-o,--out", wanted->out, "The picture; - is standard output")
      ->capture_default_str();
  sub->add_option("--x", wanted->choice.x, "The key of x (default: size, or a key that differs)");
  sub->add_option("--y", wanted->choice.y,
                  "The key of y (default: the figure that most lines have)");
  sub->add_option("--series", wanted->choice.series,
                  "The keys that tell series apart (default: those that differ)")
      ->delimiter(',');
  sub->add_option("--kind", wanted->kind, "lines or bars")->check(CLI::IsMember({"lines", "bars"}));
  sub->add_option("--relative-to", wanted->choice.relative_to, "Show multiples of this series");
  sub->add_option("--title", wanted->choice.title, "Above the picture");
  sub->callback([wanted] { act(*wanted); });
}

}  // namespace weft::bench
