// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include <weft/explain.hpp>

using namespace weft;

namespace {

/// All ways of a message, in one text.
std::string ways(const options& o, std::size_t bytes, bool cma = true) {
  const context ctx(o);
  std::string text;
  for (const route& r : explain_routes(ctx, bytes, cma)) text += r.when + ": " + r.way + "\n";
  return text;
}

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

TEST_CASE("small messages share a cache line with their header, larger ones ask first") {
  CHECK(has(ways({}, 8), "share one cache line"));
  CHECK_FALSE(has(ways({}, 45), "share one cache line"));
  CHECK(has(ways({}, 1 << 20), "rendezvous"));
}

TEST_CASE("the ways of large messages follow the options") {
  options o;
  CHECK(has(ways(o, 1 << 20), "direct copy"));
  CHECK_FALSE(has(ways(o, 1 << 20), "CMA"));
  o.progress = progress_mode::polling;
  CHECK(has(ways(o, 1 << 20), "CMA"));
  CHECK_FALSE(has(ways(o, 1 << 20, false), "CMA"));
  o.large_messages = "pipeline";
  CHECK_FALSE(has(ways(o, 1 << 20), "CMA"));
  CHECK_FALSE(has(ways(o, 1 << 20), "direct copy"));
  o.eager_limit = std::size_t{2} << 20;
  o.unexpected_budget = std::size_t{1} << 30;
  CHECK(has(ways(o, 1 << 20), "rendezvous"));  // more than the receiver grants at first
  o.eager_limit = 1024;
  CHECK(has(ways(o, 1025), "rendezvous"));
}

TEST_CASE("a context without shared memory explains that it has none") {
  options o;
  o.transports = {"self"};
  const context ctx(o);
  CHECK_THROWS_AS(explain_routes(ctx, 8, true), error);
}
