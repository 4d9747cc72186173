// SPDX-License-Identifier: Apache-2.0
// Catch2, release 2 or 3: tests include this header, and no other of Catch2's. Where the two
// differ, tests use the names below.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace weft::tests {

#if __has_include(<catch2/catch_test_macros.hpp>)
using Catch::Approx;
#else
using Catch::Detail::Approx;
#endif

/// A matcher for texts, for CHECK_THAT and CHECK_THROWS_WITH.
inline auto contains(const std::string& part) {
#if __has_include(<catch2/catch_test_macros.hpp>)
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Contains(part);
#endif
}

/// The same for the beginning of a text.
inline auto starts_with(const std::string& part) { return Catch::Matchers::StartsWith(part); }

}  // namespace weft::tests
