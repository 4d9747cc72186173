// SPDX-License-Identifier: Apache-2.0
// The optional parts that the library under test has.
#pragma once

#include <algorithm>
#include <string_view>

#include <weft/build.hpp>

namespace weft::tests {

/// \param name as weft-info prints it: "qdma"
inline bool has_part(std::string_view name) {
  const auto all = build_parts();
  return std::any_of(all.begin(), all.end(),
                     [&](const build_part& p) { return p.built_in && p.name == name; });
}

}  // namespace weft::tests
