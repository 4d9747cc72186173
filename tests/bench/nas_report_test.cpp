// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "compare/nas.hpp"
#include "support/catch.hpp"

namespace {

using weft::bench::parse_nas_report;

const std::string report_of_3_4 =
    " iteration   50\n"
    " Verification Successful\n"
    " LU Benchmark Completed.\n"
    " Class           =                        S\n"
    " Time in seconds =                     0.04\n"
    " Total processes =                        2\n"
    " Active procs    =                        2\n"
    " Mop/s total     =                  2634.60\n"
    " Mop/s/process   =                  1317.30\n"
    " Verification    =               SUCCESSFUL\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_CASE("the report of a NAS benchmark is found in its output") {
  const auto report = parse_nas_report(report_of_3_4);
  CHECK(report.mop_s == 2634.6);
  CHECK(report.seconds == 0.04);
  CHECK(report.processes == 2);
  CHECK(report.verified);
}

TEST_CASE("a release before 3.4 names its processes differently") {
  const auto report =
      parse_nas_report(with(report_of_3_4, "Total processes =                        2",
                            "Total procs     =                        7"));
  CHECK(report.processes == 7);
}

TEST_CASE("a NAS benchmark whose verification failed is not verified") {
  CHECK_FALSE(parse_nas_report(with(report_of_3_4, "=               SUCC", "=             UNSUCC"))
                  .verified);
}

TEST_CASE("output without the report of a NAS benchmark names what is missing") {
  CHECK_THROWS_WITH(parse_nas_report("Segmentation fault\n"),
                    weft::tests::contains("\"Mop/s total =\" is missing"));
  CHECK_THROWS_WITH(parse_nas_report(with(report_of_3_4, "Verification    =", "Verified")),
                    weft::tests::contains("\"Verification =\" is missing"));
  CHECK_THROWS_WITH(parse_nas_report(with(report_of_3_4, "2634.60", "*******")),
                    weft::tests::contains("which is no number"));
}

TEST_CASE("a folder without NAS benchmarks is refused with what would be one") {
  CHECK_THROWS_WITH(weft::bench::find_nas_tree("/proc/self"),
                    weft::tests::contains("no folder NPB3.x-MPI"));
}

}  // namespace
