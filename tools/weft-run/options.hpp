// SPDX-License-Identifier: Apache-2.0
// The command line of weft-run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::run {

struct options {
  std::uint32_t ranks = 1;
  bool label = false;                    ///< put "[rank] " in front of each line
  bool bind = false;                     ///< pin rank i to core i modulo cores
  bool kill_on_failure = false;          ///< when one rank fails, end the others
  std::string call_tree;                 ///< a file, or "stderr"; empty: none
  std::uint64_t call_tree_messages = 0;  ///< 0: all
  std::string trace;                     ///< a file for the traces of all ranks; empty: none
  std::uint32_t restarts = 0;            ///< of each rank but 0, when it fails
  double timeout = 0;                    ///< seconds after which the ranks are ended; 0: never
  std::string output;  ///< a folder for what each rank prints; empty: weft-run's own output
  double grace = 5;    ///< seconds between asking the others to end and killing them
  std::vector<std::string> command;
};

/// Reads the command line. If there is nothing to run (--help, or an error) it prints a text and
/// sets `exit_status`. \returns whether to continue
bool parse(int argc, char** argv, options& into, int& exit_status);

}  // namespace weft::run
