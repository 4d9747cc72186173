// SPDX-License-Identifier: Apache-2.0
#include "serve/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <weft/build.hpp>

#include "stage/sides.hpp"

namespace weft::bench {
namespace {

constexpr std::size_t longest = 1024;  // of private data
constexpr std::string_view program = "weft-bench";

bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.,=+").find(c) != std::string_view::npos;
}

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error(why); }

/// Of the side here; these are for the client alone.
bool is_for_client(const std::string& option) {
  return option == "--to" || option == "--key-file" || option == "--hosts" || option == "--c" ||
         option == "--help";
}

void check_option(const CLI::App& subcommand, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (!name.starts_with("--") || is_for_client(name) || !subcommand.get_option_no_throw(name))
    refuse(fmt::format("{} has no option {} for a server", subcommand.get_name(), name));
}

}  // namespace

std::string private_data_of(const std::vector<std::string>& words) {
  std::string text = fmt::format("{}\n{}\n{}", program, version(), fmt::join(words, "\n"));
  if (text.size() > longest)
    throw std::runtime_error(fmt::format(
        "a command line of {} bytes is too long for a server; leave out some sizes", text.size()));
  return text;
}

std::vector<std::string> words_in(const std::string& private_data, const CLI::App& app) {
  std::istringstream lines(private_data);
  std::string who, theirs, word;
  std::getline(lines, who);
  std::getline(lines, theirs);
  if (who != program) refuse("here serves weft-bench, and the client is another program");
  if (theirs != version())
    refuse(
        fmt::format("the server is weft-bench {}, the client another version: install the same "
                    "on both hosts",
                    version()));
  std::vector<std::string> words;
  while (std::getline(lines, word)) {
    if (word.empty() || !std::all_of(word.begin(), word.end(), is_plain))
      refuse("a server takes only words of letters, digits and -_.,=+");
    words.push_back(word);
  }
  if (words.empty()) refuse("the client named no benchmark");
  const auto found = app.get_subcommands(
      [&](const CLI::App* one) { return one->get_name() == words.front() && has_sides(*one); });
  if (found.empty()) refuse(fmt::format("{} is no benchmark of two sides", words.front()));
  for (const std::string& one : words)
    if (one.starts_with('-')) check_option(*found.front(), one);
  return words;
}

}  // namespace weft::bench
