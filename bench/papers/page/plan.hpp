// SPDX-License-Identifier: Apache-2.0
// Which commands to run for a page, each once, also when several experiments or papers use it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "page/experiment.hpp"
#include "page/record.hpp"
#include "support/subprocess.hpp"

namespace weft::bench::page {

/// Settings of a page.
struct page_options {
  std::filesystem::path papers{};  ///< the folder of descriptions; empty: found beside the program
  std::filesystem::path out = "weft-report";
  std::filesystem::path from{};   ///< draw the records of that page, run nothing
  std::filesystem::path guest{};  ///< the script that runs a command where there is an RDMA device
  double guest_seconds = 300;     ///< how long it may be silent, beyond its longest command
  std::filesystem::path nas{};    ///< the folder of the NAS Parallel Benchmarks
  std::vector<std::string> only{};  ///< papers, or paper/experiment
  std::string revision{};           ///< of the sources, for the page
  bool quick = false;
  bool keep = false;    ///< run only commands that have no good record
  bool busy = false;    ///< measure on a machine that others use
  double minutes = 25;  ///< after that no command is run again to decide a claim
};

/// A command to run.
struct job {
  std::string name;               ///< of its files, "PAPER.COMMAND"
  std::vector<std::string> keys;  ///< the commands of papers that it stands for
  command what;                   ///< with the path of its program
  std::string shown;              ///< as one would type it
  double seconds = 0;             ///< an estimate
  std::chrono::seconds limit{};
  bool guest = false;
  std::string missing;  ///< what it lacks here; empty: it can run
};

/// Keeps the papers and experiments that `only` names (all, if it is empty): "elan4",
/// "shiba/figure-5", "shiba/shiba-figure-5". Throws std::invalid_argument if one of them is not
/// there, and lists what is.
std::vector<paper> chosen(std::vector<paper> all, const std::vector<std::string>& only);

/// The commands of all experiments, in the order of the page; those of the guest last.
std::vector<job> plan_of(const std::vector<paper>& papers, const page_options& how);

/// Where the descriptions are: beside an installed program (../share/weft/papers), else in a folder
/// bench/papers/experiments above it. Throws std::invalid_argument if there are none.
std::filesystem::path default_papers();

/// The folder of this program.
std::filesystem::path own_folder();

}  // namespace weft::bench::page
