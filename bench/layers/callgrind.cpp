// SPDX-License-Identifier: Apache-2.0
#include "layers/callgrind.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "support/scratch_directory.hpp"
#include "support/subprocess.hpp"

namespace weft::bench {
namespace {

/// Reads callgrind's output: the format of valgrind's manual, "Callgrind Format Specification".
/// Names are written once, as "(number) name", and then as "(number)".
class profile_reader {
 public:
  void line(std::string_view text) {
    if (text.empty()) return;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && !is_cost(text))
      return field(text.substr(0, equals), text.substr(equals + 1));
    if (!is_cost(text)) return;
    if (cost_of_call_) {  // what the called function costs is counted there
      cost_of_call_ = false;
      return;
    }
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return;
    counts_[{file_, function_, home_}] +=
        std::strtoull(std::string(text.substr(space + 1)).c_str(), nullptr, 10);
  }

  std::vector<instruction_count> take() {
    std::vector<instruction_count> all;
    for (const auto& [where, n] : counts_)
      all.push_back({std::get<0>(where), std::get<1>(where), std::get<2>(where), n});
    return all;
  }

 private:
  /// Costs begin with a line number, absolute or relative to the one before.
  static bool is_cost(std::string_view text) {
    return std::string_view("0123456789+-*").find(text.front()) != std::string_view::npos;
  }

  void field(std::string_view key, std::string_view value) {
    if (key == "fl" || key == "fi" || key == "fe") {
      file_ = name(files_, value);
      if (key == "fl") home_ = file_;
    } else if (key == "fn") {
      function_ = name(functions_, value);
    } else if (key == "cfi" || key == "cfl") {
      name(files_, value);
    } else if (key == "cfn") {
      name(functions_, value);
    } else if (key == "calls") {
      cost_of_call_ = true;
    }
  }

  static std::string name(std::map<std::string, std::string, std::less<>>& known,
                          std::string_view text) {
    if (text.empty() || text.front() != '(') return std::string(text);
    const std::size_t end = text.find(')');
    const std::string number(text.substr(0, end + 1));
    if (end + 2 < text.size()) known[number] = text.substr(end + 2);
    return known[number];
  }

  std::map<std::string, std::string, std::less<>> files_;
  std::map<std::string, std::string, std::less<>> functions_;
  std::string file_, function_, home_;
  bool cost_of_call_ = false;
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> counts_;
};

}  // namespace

std::vector<instruction_count> count_instructions(const std::vector<std::string>& arguments) {
  if (!find_program("valgrind"))
    throw std::runtime_error("valgrind is not installed: apt-get install valgrind");
  const scratch_directory scratch;
  const std::filesystem::path output = scratch.path() / "counts";
  command what{{"valgrind", "--quiet", "--tool=callgrind", "--collect-atstart=no",
                fmt::format("--callgrind-out-file={}", output.string()),
                std::filesystem::read_symlink("/proc/self/exe")},
               {}};
  what.argv.insert(what.argv.end(), arguments.begin(), arguments.end());
  const command_result ended = run_command(what, std::chrono::minutes(2));
  if (!ended.ok()) throw std::runtime_error(fmt::format("{}: {}", what.text(), ended.reason()));
  std::ifstream in(output);
  profile_reader reader;
  for (std::string text; std::getline(in, text);) reader.line(text);
  return reader.take();
}

}  // namespace weft::bench
