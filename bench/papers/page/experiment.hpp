// SPDX-License-Identifier: Apache-2.0
// The experiments of a paper, as ../experiments/*.json describe them: what to run, what to draw,
// the paper's own values, and its claims. ../README.md describes the format.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "output/json_lines.hpp"
#include "plot/chart.hpp"

namespace weft::bench::page {

/// A command line that measures, for one experiment or several.
struct measurement {
  std::string id;
  std::vector<std::string> run;
  std::vector<std::string> quick;  ///< appended in a quick run
  std::vector<std::string> full;   ///< appended otherwise
  double quick_seconds = 10;       ///< estimates
  double full_seconds = 60;
  std::optional<double> timeout_seconds;
  std::map<std::string, std::string> environment;
  bool guest = false;  ///< needs an RDMA device
  std::string needs;   ///< "", "mpi" or "nas"
};

/// What one run of a command found: the median of its samples, and their spread if it says that.
struct run_value {
  int run = 1;
  double y = plot::no_value;
  double low = plot::no_value;
  double high = plot::no_value;
};

/// A value at x, which is a number or, of categories, a text. Of several runs it is the median.
struct value {
  json x;
  double y = plot::no_value;
  double low = plot::no_value;
  double high = plot::no_value;
  std::vector<run_value> runs{};  ///< in ascending order; empty: a value of a paper
};

struct paper_series {
  std::string name;
  std::vector<value> points;
  std::string source;       ///< "Table 1", or where the text has it
  std::string relative_to;  ///< another series of the paper; empty: values are as they are
  std::string like;         ///< a measured series whose colour it takes
};

enum class series_role : unsigned char { weft, peer, raw };

struct measured_series {
  std::string name;
  series_role role = series_role::weft;
  std::string command;
  json select = json::object();  ///< lines that have these values (of a list, one of them)
  json x;                        ///< a key of the line, or {"value": ...}
  std::string y;                 ///< a key
  std::optional<std::array<std::string, 2>> spread;
  double factor = 1;
  std::string absent;  ///< why it may have no value on some machines
};

/// One side of a comparison: a series at x, or a number.
struct side_of_claim {
  std::string series;
  json x;
  std::optional<double> number;
};

enum class relation : unsigned char { below, above, near };

/// A comparison that does without weft: of the bare device, of memcpy. It says, of a claim that
/// fails, whether the machine could have shown it.
struct control_of_claim {
  std::string text;
  side_of_claim left;
  side_of_claim right;
  relation is = relation::below;
};

/// Where the cause is, if a claim fails.
enum class cause_place : unsigned char { unknown, weft, machine, method };

struct claim {
  std::string text;
  side_of_claim left;
  side_of_claim right;
  relation is = relation::below;
  std::string paper;  ///< the paper's values
  std::optional<control_of_claim> control{};
  /// Of a claim without a decided control: the cause that other measurements have shown.
  cause_place cause = cause_place::unknown;
  std::string why{};
};

enum class picture_kind : unsigned char { lines, bars, table };

struct experiment {
  std::string id;
  std::string label;  ///< "Table 1"
  std::string title;
  std::string shows;
  picture_kind kind = picture_kind::lines;
  plot::axis x;
  bool categories = false;  ///< x counts texts
  plot::axis y;
  std::string relative_to;
  std::vector<paper_series> paper;
  std::vector<measured_series> series;
  std::vector<claim> claims;
  std::string no_claim;  ///< why there are none
};

struct unavailable_experiment {
  std::string label;
  std::string why;
};

struct paper {
  std::string id;
  std::string title;
  std::string authors;
  std::string where;
  std::string year;
  std::string machine;
  std::map<std::string, measurement> commands;
  std::vector<experiment> experiments;
  std::vector<unavailable_experiment> unavailable;
};

/// Reads the description of a paper. Throws std::invalid_argument with the place of an error:
/// a key that is missing or that there cannot be, a value of the wrong kind, or the name of a
/// command or series that is not there.
paper read_paper(const json& from);

/// All *.json of a folder, in the order of their years. Throws std::invalid_argument with the
/// file's name.
std::vector<paper> read_papers(const std::filesystem::path& folder);

}  // namespace weft::bench::page
