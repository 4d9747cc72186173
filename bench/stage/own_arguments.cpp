// SPDX-License-Identifier: Apache-2.0
#include "stage/own_arguments.hpp"

#include <fstream>

namespace weft::bench {

std::vector<std::string> own_arguments() {
  std::vector<std::string> words;
  std::ifstream own("/proc/self/cmdline", std::ios::binary);
  std::string word;
  std::getline(own, word, '\0');  // the program
  while (std::getline(own, word, '\0')) words.push_back(word);
  return words;
}

}  // namespace weft::bench
