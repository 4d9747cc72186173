// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "plot/scale.hpp"
#include "plot/text.hpp"
#include "support/catch.hpp"

using namespace weft::plot;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> labels(scale_kind kind, range shown, std::string_view unit, int count) {
  std::vector<std::string> result;
  for (const auto& one : ticks_of(kind, shown, unit, count)) result.push_back(one.label);
  return result;
}

}  // namespace

TEST_CASE("a linear axis has round ticks within its range, and no more than asked for") {
  CHECK(labels(scale_kind::linear, {0, 10}, "", 6) ==
        std::vector<std::string>{"0", "2", "4", "6", "8", "10"});
  CHECK(labels(scale_kind::linear, {-1, 1}, "", 5) ==
        std::vector<std::string>{"−1", "−0.5", "0", "0.5", "1"});
  for (const int count : {2, 3, 5, 8})
    for (const double high : {0.0123, 0.9, 3.0, 77.7, 123456.0}) {
      const auto ticks = ticks_of(scale_kind::linear, {0, high}, "", count);
      CHECK(ticks.size() >= 1);
      CHECK(std::ssize(ticks) <= count);
      for (const auto& one : ticks) CHECK((one.value >= 0 && one.value <= high * (1 + 1e-9)));
    }
}

TEST_CASE("an axis of sizes has powers of two with K and M") {
  CHECK(labels(scale_kind::log2, {1, 64}, "bytes", 8) ==
        std::vector<std::string>{"1", "2", "4", "8", "16", "32", "64"});
  const auto ticks = ticks_of(scale_kind::log2, {4, 4 << 20}, "bytes", 8);
  CHECK(ticks.size() <= 8);
  CHECK(value_text(1024, "bytes") == "1\xC2\xA0K");
  CHECK(value_text(65536, "bytes") == "64\xC2\xA0K");
  CHECK(value_text(1 << 20, "bytes") == "1\xC2\xA0M");
  CHECK(value_text(1000, "bytes") == "1000");
  CHECK(value_text(65536, "µs") ==
        "65\xE2\x80\x89"
        "536");
}

TEST_CASE(
    "a logarithmic axis of a few decades also has ticks between them, one of many leaves some "
    "out") {
  CHECK(labels(scale_kind::log10, {1, 100}, "", 8) ==
        std::vector<std::string>{"1", "2", "5", "10", "20", "50", "100"});
  CHECK(labels(scale_kind::log10, {0.1, 1000}, "", 9) ==
        std::vector<std::string>{"0.1", "0.3", "1", "3", "10", "30", "100", "300", "1000"});
  CHECK(ticks_of(scale_kind::log10, {1e-9, 1e9}, "", 7).size() <= 7);
  CHECK(ticks_of(scale_kind::log10, {6.1, 6.9}, "", 7).size() >= 2);
}

TEST_CASE("a range is useful for no value, for one, and for values without a place") {
  for (const auto kind : {scale_kind::linear, scale_kind::log2, scale_kind::log10})
    for (const std::vector<double>& values : {std::vector<double>{},
                                              {5.0},
                                              {0.0},
                                              {nan_value},
                                              {-3.0, nan_value, INFINITY},
                                              {1e-99, 1e99}})
      for (const range shown : {round_range(values, kind, true), close_range(values, kind)}) {
        CHECK(shown.low < shown.high);
        CHECK((kind == scale_kind::linear || shown.low > 0));
        CHECK(!ticks_of(kind, shown, "", 8).empty());
        for (const double value : values)
          if (has_place(value, kind)) CHECK((value >= shown.low && value <= shown.high));
      }
}

TEST_CASE("zero has a place on a linear axis only, and NaN on none") {
  CHECK(has_place(0, scale_kind::linear));
  CHECK_FALSE(has_place(0, scale_kind::log2));
  CHECK_FALSE(has_place(-1, scale_kind::log10));
  CHECK_FALSE(has_place(nan_value, scale_kind::linear));
  CHECK_FALSE(has_place(INFINITY, scale_kind::log10));
}

TEST_CASE("a scale maps the ends of its range to the ends of its interval") {
  const scale log(scale_kind::log10, {1, 100}, 200, 0);
  CHECK(log.at(1) == weft::tests::Approx(200));
  CHECK(log.at(10) == weft::tests::Approx(100));
  CHECK(log.at(100) == weft::tests::Approx(0).margin(1e-9));
  const scale linear(scale_kind::linear, {-1, 3}, 0, 40);
  CHECK(linear.at(0) == weft::tests::Approx(10));
}

TEST_CASE("numbers have three digits, text of any bytes becomes text of a page") {
  CHECK(number_text(0.13590249) == "0.136");
  CHECK(number_text(27.5) == "27.5");
  CHECK(number_text(-2) == "−2");
  CHECK(number_text(1.2e12) == "1.2 × 10¹²");
  CHECK(number_text(nan_value) == "–");
  CHECK(escaped("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  CHECK(escaped("µs\x01\xFF") == "µs\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(escaped("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(escaped("\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(shortened("a rather long name", 40, 12).ends_with("…"));
  CHECK(shortened("short", 400, 12) == "short");
  CHECK(wrapped("a rather long name", 70, 12, 3) ==
        std::vector<std::string>{"a rather", "long name"});
  CHECK(wrapped("a rather long name", 70, 12, 1).front().ends_with("…"));
  CHECK(wrapped("unbreakable", 30, 12, 3).size() == 1);
}
