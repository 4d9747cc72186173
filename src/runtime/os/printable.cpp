// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/printable.hpp"

namespace weft::runtime {

std::string printable(std::string_view text, std::size_t most) {
  std::string shown(text.substr(0, most));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return shown;
}

std::string printable(std::span<const std::byte> text, std::size_t most) {
  return printable(std::string_view(reinterpret_cast<const char*>(text.data()), text.size()), most);
}

}  // namespace weft::runtime
