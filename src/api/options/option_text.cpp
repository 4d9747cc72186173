// SPDX-License-Identifier: Apache-2.0
#include "api/options/option_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include <weft/error.hpp>

namespace weft::detail {

void bad(const char* name, const std::string& value, std::string_view allowed) {
  throw error(errc::invalid_argument,
              fmt::format("{}=\"{}\" makes no sense; it can be {}", name, value, allowed));
}

std::size_t bytes(const char* name, const std::string& text) {
  std::size_t n = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, n);
  unsigned shift = 0;
  if (failure == std::errc{} && rest + 1 == end) {
    switch (*rest | 0x20) {
      case 'k':
        shift = 10;
        break;
      case 'm':
        shift = 20;
        break;
      case 'g':
        shift = 30;
        break;
      default:
        bad(name, text, "a number of bytes, also with k, m or g behind it");
    }
  } else if (failure != std::errc{} || rest != end) {
    bad(name, text, "a number of bytes, also with k, m or g behind it");
  }
  if (n > (most_bytes >> shift)) bad(name, text, "at most 4 exabytes");
  return n << shift;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    if (comma != from) all.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return all;
}

std::string join(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& w : all) text += (text.empty() ? "" : ",") + w;
  return text;
}

}  // namespace weft::detail
