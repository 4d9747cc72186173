// SPDX-License-Identifier: Apache-2.0
#include "sizes.hpp"

#include <fmt/format.h>

#include <string_view>
#include <weft/environment.hpp>
#include <weft/options.hpp>

namespace weft::info {

std::size_t bytes_of(const std::string& text, const char* where) {
  options o;
  for (const environment_variable& v : environment_variables())
    if (std::string_view(v.name) == "WEFT_UNEXPECTED_BUDGET") v.set(o, where, text);
  return o.unexpected_budget;
}

std::string without_exponent(double value) {
  return value < 1000 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

}  // namespace weft::info
