// SPDX-License-Identifier: Apache-2.0
#include "ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::bench {

std::optional<int> own_rank() {
  const char* const rank = std::getenv("WEFT_RANK");
  if (!rank) return {};
  return std::atoi(rank);
}

[[noreturn]] void become_ranks(int count) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> words{(self.parent_path() / "weft-run").string(),
                                 "--no-label",
                                 "--kill-on-failure",
                                 "-n",
                                 fmt::format("{}", count),
                                 "--",
                                 self.string()};
  std::ifstream own("/proc/self/cmdline", std::ios::binary);
  std::string word;
  std::getline(own, word, '\0');  // the program
  while (std::getline(own, word, '\0')) words.push_back(word);
  std::vector<char*> argv;
  for (auto& one : words) argv.push_back(one.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  throw std::runtime_error(fmt::format("cannot start {}: {}; it must lie beside weft-bench",
                                       words[0], std::strerror(errno)));
}

}  // namespace weft::bench
