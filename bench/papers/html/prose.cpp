// SPDX-License-Identifier: Apache-2.0
#include "html/html.hpp"
#include "plot/text.hpp"

namespace weft::bench::page {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool is_letter(std::string_view text, std::size_t at) {
  return at < text.size() && letters.find(text[at]) != std::string_view::npos;
}

/// The end of an option that begins at `at`; `at`, if none does.
std::size_t end_of_option(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "--" || !is_letter(text, at + 2)) return at;
  std::size_t end = at + 2;
  while (is_letter(text, end) || (end < text.size() && text[end] == '-')) ++end;
  return end;
}

}  // namespace

std::string prose(std::string_view text) {
  std::string result;
  std::size_t done = 0;
  const auto pass = [&](std::size_t to) {
    result += plot::escaped(text.substr(done, to - done));
    done = to;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (const std::size_t end = end_of_option(text, at); end != at) {
      pass(at);
      result += "<span class=\"option\">";
      pass(end);
      result += "</span>";
      at = end - 1;
    } else if (text[at] == '\'' && at > 0 && is_letter(text, at - 1)) {
      pass(at);
      result += "’";
      ++done;
    }
  }
  pass(text.size());
  return result;
}

}  // namespace weft::bench::page
