// SPDX-License-Identifier: Apache-2.0
// Which library is the best one, and who is judged.
#include "compare/verdict.hpp"

#include "output/stats.hpp"
#include "support/catch.hpp"

using namespace weft::bench;

namespace {

results of_bench(const std::string& series, const char* metric) {
  results measured;
  const auto add = [&](const char* who, double median, double mean) {
    measured.add({series, "", 8}, who, 0, json{{metric, median}, {"mean", mean}});
  };
  add("weft dedicated", 10, 10);
  add("weft polling", 20, 20);
  add("fast", 5, 40);
  add("even", 8, 16);
  return measured;
}

target promise(const std::string& series, const std::string& metric) {
  return {series, {8}, "", metric, target::reference::best_peer, "", target::sense::at_most, 1};
}

}  // namespace

TEST_CASE("the best peer by the mean has the least time, or the highest rate", "[compare]") {
  const auto times = of_bench("latency 2 spinners", "half_rtt_us");
  CHECK(best_peer(times, {"latency 2 spinners", "", 8}, "half_rtt_us", {"fast", "even"}) == "fast");
  CHECK(best_peer(times, {"latency 2 spinners", "", 8}, "mean", {"fast", "even"}) == "even");
  const auto rates = of_bench("bandwidth 2 spinners", "mb_s");
  CHECK(best_peer(rates, {"bandwidth 2 spinners", "", 8}, "mb_s", {"fast", "even"}) == "even");
  CHECK(best_peer(rates, {"bandwidth 2 spinners", "", 8}, "mean", {"fast", "even"}) == "fast");
}

TEST_CASE("a target is judged for each contestant", "[compare]") {
  const auto measured = of_bench("latency", "half_rtt_us");
  const auto verdicts = judge({promise("latency", "mean")}, measured,
                              {"weft dedicated", "weft polling"}, {"fast", "even"});
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0].who == "weft dedicated");
  CHECK(verdicts[0].reference == "even");
  CHECK(verdicts[0].result == weft::bench::verdict::outcome::met);
  CHECK(verdicts[1].result == weft::bench::verdict::outcome::falls_short);
}

TEST_CASE("the mean of rates is all work by the whole time", "[compare]") {
  CHECK(harmonic_mean(std::vector<double>{1, 3}) == weft::tests::Approx(1.5));
  CHECK(harmonic_mean({}) == 0);
}
