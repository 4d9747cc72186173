// SPDX-License-Identifier: Apache-2.0
// Groups and collectives of whole jobs: programs/collectives.cpp, collective_misuse.cpp.
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>

#include "collectives/algorithm.hpp"
#include "support/catch.hpp"
#include "support/transports.hpp"

namespace {

struct collectives_end {
  int status;
  std::string said;
};

/// \param algorithms WEFT_COLLECTIVES
collectives_end run_job(const std::string& transport, const std::string& ranks,
                        const std::string& program, const std::string& mode,
                        const std::string& algorithms) {
  const std::string command = "WEFT_PROGRESS=" + mode + " WEFT_TRANSPORTS=self," + transport +
                              " WEFT_COLLECTIVES=" + algorithms + " exec timeout 100 " +
                              WEFT_TEST_BIN_DIR "/weft-run -n " + ranks + " " + program + " 2>&1";
  FILE* const output = ::popen(command.c_str(), "r");
  REQUIRE(output);
  collectives_end end;
  for (char line[512]; std::fgets(line, sizeof line, output);) end.said += line;
  const int status = ::pclose(output);
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return end;
}

collectives_end run_collectives(const std::string& transport, const std::string& ranks,
                                const std::string& what, const std::string& mode = "dedicated",
                                const std::string& algorithms = "") {
  return run_job(transport, ranks, WEFT_TEST_BIN_DIR "/tests/" + what, mode, algorithms);
}

/// Of ranks that take themselves for those of hosts with so many ranks each.
collectives_end run_on_hosts(const std::string& per_host, const std::string& ranks,
                             const std::string& what, const std::string& algorithms) {
  return run_job(weft::tests::transports().front(), ranks,
                 "env WEFT_LOCAL_SIZE=" + per_host + " " WEFT_TEST_BIN_DIR "/tests/" + what,
                 "dedicated", algorithms);
}

/// WEFT_COLLECTIVES: every collective by levels, where it has such an algorithm.
/// \param parts by those of which each slice has a part
std::string by_levels(bool parts) {
  std::string all;
  for (std::size_t k = 0; k != weft::collectives::kinds; ++k) {
    const auto& table = weft::collectives::table_of(static_cast<weft::collectives::kind>(k));
    std::string_view name;
    for (const auto& one : table.algorithms)
      if (one.name.starts_with("levels") && (parts || name.empty())) name = one.name;
    if (name.empty()) continue;
    all += (all.empty() ? "" : ",") + std::string(table.name) + ":" + std::string(name);
  }
  return all;
}

/// The length of the longest table.
std::size_t most_algorithms() {
  std::size_t most = 0;
  for (std::size_t k = 0; k != weft::collectives::kinds; ++k)
    most = std::max(
        most,
        weft::collectives::table_of(static_cast<weft::collectives::kind>(k)).algorithms.size());
  return most;
}

}  // namespace

TEST_CASE("collectives: every result is right, of every size, root and group") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  const std::string ranks = WEFT_TEST_SANITIZED ? "3" : GENERATE("1", "2", "3", "6");
  const collectives_end end = run_collectives(transport, ranks, "collectives results");
  CAPTURE(transport, ranks, end.said);
  CHECK(end.status == 0);
}

TEST_CASE("collectives: a power of two of ranks, in every mode") {
  const std::string mode = GENERATE("polling", "interrupt", "two_threads");
  const collectives_end end =
      run_collectives(weft::tests::transports().front(), "4", "collectives results", mode);
  CAPTURE(mode, end.said);
  CHECK(end.status == 0);
}

TEST_CASE("collectives: every result is right by every algorithm in the tables") {
  // Of each collective the algorithm at that place in its table.
  std::string all;
  const auto place = GENERATE(range(std::size_t{0}, most_algorithms()));
  for (std::size_t k = 0; k != weft::collectives::kinds; ++k) {
    const auto& table = weft::collectives::table_of(static_cast<weft::collectives::kind>(k));
    const auto& one = table.algorithms[std::min(place, table.algorithms.size() - 1)];
    all += (all.empty() ? "" : ",") + std::string(table.name) + ":" + std::string(one.name);
  }
  const std::string ranks = WEFT_TEST_SANITIZED ? "3" : GENERATE("1", "2", "3", "4", "5");
  const collectives_end end = run_collectives(weft::tests::transports().front(), ranks,
                                              "collectives results", "dedicated", all);
  CAPTURE(all, ranks, end.said);
  CHECK(end.status == 0);
}

TEST_CASE("collectives: flags that are asked for, where no link passes memory") {
  std::string all;
  for (std::size_t k = 0; k != weft::collectives::kinds; ++k)
    all += (all.empty() ? "" : ",") +
           std::string(weft::collectives::table_of(static_cast<weft::collectives::kind>(k)).name) +
           ":flags";
  const collectives_end end =
      run_collectives("tcp", "3", "collectives results 2000", "dedicated", all);
  CAPTURE(all, end.said);
  CHECK(end.status == 0);
}

TEST_CASE("collectives: every result is right by levels") {
  const auto [ranks, per_host] = GENERATE(table<std::string, std::string>(
      {{"4", "2"}, {"6", "2"}, {"6", "3"}, {"9", "3"}, {"8", "2"}}));
  if (WEFT_TEST_SANITIZED && ranks != "6") return;
  for (const std::string& algorithms : {std::string(), by_levels(false), by_levels(true)}) {
    const collectives_end end =
        run_on_hosts(per_host, ranks, "collectives results 20000", algorithms);
    CAPTURE(ranks, per_host, algorithms, end.said);
    CHECK(end.status == 0);
  }
}

TEST_CASE("collectives: by levels they move while all ranks compute") {
  const collectives_end end = run_on_hosts("2", "4", "collectives computing", by_levels(true));
  CAPTURE(end.said);
  CHECK(end.status == 0);
}

TEST_CASE("collectives: when a rank dies in one by levels, all end with one error") {
  const std::string victim = GENERATE("0", "1", "4");
  const bool parts = GENERATE(false, true);
  const collectives_end end =
      run_on_hosts("3", "6", "collectives killed " + victim, by_levels(parts));
  CAPTURE(victim, parts, end.said);
  CHECK(end.status == 128 + SIGKILL);
  CHECK(end.said.find("failed") == std::string::npos);
  for (const char* rank : {"0", "1", "2", "3", "4", "5"})
    if (rank != victim)
      CHECK_THAT(end.said, weft::tests::contains(std::string("rank ") + rank + ": rank " + victim +
                                                 " of the group is lost"));
}

TEST_CASE("collectives: one by levels that a rank stops ends for all") {
  const collectives_end end = run_on_hosts("2", "4", "collectives stopped", by_levels(true));
  CAPTURE(end.said);
  CHECK(end.status == 0);
  for (const char* rank : {"2", "3"})
    CHECK_THAT(end.said, weft::tests::contains(std::string("rank ") + rank +
                                               ": rank 1 of the group stopped"));
}

TEST_CASE("collectives: different calls, and ranges that overlap, by levels") {
  const char* const what = GENERATE("different", "overlap");
  const bool parts = GENERATE(false, true);
  const collectives_end end =
      run_on_hosts("2", "6", std::string("collective_misuse ") + what, by_levels(parts));
  CAPTURE(what, parts, end.said);
  CHECK(end.status == 0);
}

TEST_CASE("collectives: members that are asked to use different algorithms all learn of it") {
  const std::string shell =
      "sh -c '[ $WEFT_RANK != 1 ] || export WEFT_COLLECTIVES=all_reduce:ring; "
      "exec " WEFT_TEST_BIN_DIR "/tests/collectives results'";
  const collectives_end end = run_job(weft::tests::transports().front(), "3", shell, "dedicated",
                                      "all_reduce:recursive_doubling");
  CAPTURE(end.said);
  CHECK(end.status == 1);
  for (const char* rank : {"0", "1", "2"})
    CHECK_THAT(end.said, weft::tests::contains(std::string("rank ") + rank + " failed: "));
  CHECK_THAT(end.said, weft::tests::contains("by the algorithm "));
  CHECK_THAT(end.said, weft::tests::contains("WEFT_COLLECTIVES has to be the same"));
}

TEST_CASE("collectives: they move while all ranks compute") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  const std::string mode = GENERATE("dedicated", "two_threads");
  const collectives_end end = run_collectives(transport, "3", "collectives computing", mode);
  CAPTURE(transport, mode, end.said);
  CHECK(end.status == 0);
}

TEST_CASE("collectives: when a rank dies, all end with one error, and go on without it") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  const std::string victim = GENERATE("1", "0");
  const collectives_end end = run_collectives(transport, "5", "collectives killed " + victim);
  CAPTURE(transport, victim, end.said);
  CHECK(end.status == 128 + SIGKILL);
  CHECK(end.said.find("failed") == std::string::npos);
  for (const char* rank : {"0", "1", "2", "3", "4"})
    if (rank != victim)
      CHECK_THAT(end.said, weft::tests::contains(std::string("rank ") + rank + ": rank " + victim +
                                                 " of the group is lost"));
}

TEST_CASE("collectives: one that a rank stops ends for all") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  const collectives_end end = run_collectives(transport, "4", "collectives stopped");
  CAPTURE(transport, end.said);
  CHECK(end.status == 0);
  for (const char* rank : {"2", "3"})
    CHECK_THAT(end.said, weft::tests::contains(std::string("rank ") + rank +
                                               ": rank 1 of the group stopped"));
}

TEST_CASE("collectives: members that make different calls all learn of both") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  const std::string ranks = GENERATE("3", "4");
  const collectives_end end = run_collectives(transport, ranks, "collective_misuse different");
  CAPTURE(transport, ranks, end.said);
  CHECK(end.status == 0);
}

TEST_CASE("collectives: ranges that overlap are in place, or refused") {
  const std::string ranks = GENERATE("1", "3", "4");
  const collectives_end end =
      run_collectives(weft::tests::transports().front(), ranks, "collective_misuse overlap");
  CAPTURE(ranks, end.said);
  CHECK(end.status == 0);
}
