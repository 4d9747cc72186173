// SPDX-License-Identifier: Apache-2.0
// The versions of libraries: what they tell, and which two do not belong together.
#include <algorithm>

#include <weft/build.hpp>

#include "api/versions/library_file.hpp"
#include "support/catch.hpp"
#include "support/parts.hpp"

using namespace weft;
using weft::tests::contains;

namespace {

bool fits(const char* built_with, const char* loaded) {
  return mixture({"some", built_with, loaded}).empty();
}

library_version of(const std::string& name) {
  for (const library_version& one : library_versions())
    if (one.name == name) return one;
  return {};
}

}  // namespace

TEST_CASE("a loaded library that is older than the build's is a mixture", "[build]") {
  CHECK(fits("2.9", "2.9"));
  CHECK(fits("2.9", "2.12"));
  CHECK(fits("2021.8.0", "2022.1.0"));
  CHECK_FALSE(fits("2.9", "2.3"));
  CHECK_FALSE(fits("2.12", "2.9"));
  CHECK_FALSE(fits("2022.1.0", "2021.8"));
  CHECK_FALSE(fits("1.14.56.1", "1.14.44.0"));
  CHECK_THAT(mixture({"liburing", "2.9", "2.3"}),
             contains("liburing 2.3 is loaded") && contains("install 2.9 or later"));
}

TEST_CASE("versions are compared by the numbers that both tell", "[build]") {
  CHECK(fits("3.8.1", "3.8"));
  CHECK(fits("4.2.2rc2", "4.2.2"));
  CHECK(fits("2.9", ""));
  CHECK(fits("", "2.9"));
  CHECK_FALSE(fits("5.0.7a1", "4.2"));
}

TEST_CASE("the first version in a text is taken out of it", "[build]") {
  CHECK(detail::first_version("OpenPMIx 5.0.7a1 (PMIx Standard: 5.1)") == "5.0.7");
  CHECK(detail::first_version("so.2.9") == "2.9");
  CHECK(detail::first_version("none.") == "");
  CHECK(detail::first_version("12.") == "12");
  CHECK(detail::first_version("") == "");
}

TEST_CASE("the libraries of the build tell their versions", "[build]") {
  CHECK_THAT(compiler(), contains("++ ") && contains("C++2"));
  CHECK_FALSE(of("glibc").loaded.empty());
  CHECK_FALSE(of("fmt").built_with.empty());
  CHECK_FALSE(of("asio").built_with.empty());
  CHECK_FALSE(of("nettle").loaded.empty());
  CHECK(of("liburing").built_with.empty() != tests::has_part("uring"));
  CHECK(of("liburing").loaded.empty() != tests::has_part("uring"));
  CHECK(of("oneTBB").loaded.empty() != tests::has_part("tbb"));
  CHECK(of("OpenSSL").loaded.empty() != tests::has_part("tls"));
  CHECK(of("libibverbs").built_with.empty() != tests::has_part("verbs"));
  CHECK(of("PMIx").built_with.empty() != tests::has_part("pmix"));
}

TEST_CASE("a library that is not loaded tells nothing", "[build]") {
  const detail::library_file none("libweft-has-none-such.so.");
  CHECK_FALSE(none.loaded());
  CHECK(none.name_says() == "");
  CHECK(none.text_says("puts") == "");
  CHECK(none.numbers_say("major", "minor") == "");
  CHECK(none.halves_say("version") == "");
}
