// SPDX-License-Identifier: Apache-2.0
// shared_flags of whole jobs: programs/flags.cpp.
#include <csignal>
#include <string>
#include <vector>

#include "launcher.hpp"
#include "support/catch.hpp"

namespace {

struct flags_end {
  int status;
  std::string out, err;
};

/// \param shell what each rank does ahead of its program
flags_end run_flags(const std::string& ranks, const std::string& what, const std::string& settings,
                    const std::string& shell = "") {
  weft::tests::launcher job(weft::tests::shell(
      {"-n", ranks},
      shell + settings + " exec timeout 100 " WEFT_TEST_BIN_DIR "/tests/flags " + what));
  const int status = job.wait();
  return {status, job.out(), job.err()};
}

}  // namespace

TEST_CASE("shared flags: barriers and tickets of several processes") {
  const std::string ranks = WEFT_TEST_SANITIZED ? "3" : GENERATE("1", "2", "5");
  const std::string mode = GENERATE("dedicated", "polling", "interrupt", "two_threads");
  const flags_end end = run_flags(ranks, "work", "WEFT_PROGRESS=" + mode);
  CAPTURE(ranks, mode, end.out, end.err);
  CHECK(end.status == 0);
}

TEST_CASE("shared flags: when a member dies, waits end at all others, and they make new ones") {
  const std::string victim = GENERATE("0", "1", "4");
  const std::string mode = GENERATE("dedicated", "interrupt");
  const flags_end end = run_flags("5", "killed " + victim, "WEFT_PROGRESS=" + mode);
  CAPTURE(victim, mode, end.out, end.err);
  CHECK(end.status == 128 + SIGKILL);
  for (const char* rank : {"0", "1", "2", "3", "4"})
    if (rank != victim)
      CHECK_THAT(end.out, weft::tests::contains(std::string("rank ") + rank + ": rank " + victim +
                                                " of the group is lost; these shared_flags"));
  CHECK(end.err.find("wrong") == std::string::npos);
}

TEST_CASE("shared flags: a make whose member dies ends at all others") {
  const unsigned seed = GENERATE(range(1u, 9u));
  const flags_end end = run_flags("4", "dying " + std::to_string(seed), "");
  CAPTURE(seed, end.out, end.err);
  CHECK(end.status == 128 + SIGKILL);
  for (unsigned rank = 0; rank != 4; ++rank)
    if (rank != seed % 4)
      CHECK_THAT(end.out, weft::tests::contains("rank " + std::to_string(rank) + " has ended"));
}

TEST_CASE("shared flags: a make that a rank stops ends for all") {
  const flags_end end = run_flags("4", "stopped", "WEFT_PROGRESS=dedicated");
  CAPTURE(end.out, end.err);
  CHECK(end.status == 0);
}

TEST_CASE("shared flags: members that cannot share memory all learn of it") {
  const std::string who = WEFT_TEST_SANITIZED ? "all" : GENERATE("all", "0", "1", "3");
  const std::string limit = "[ $WEFT_RANK != " + who + " ] || ulimit -v 6000000; ";
  const flags_end end = who == "all" ? run_flags("4", "unshared 0", "WEFT_TRANSPORTS=self,tcp")
                                     : run_flags("4", "unshared 8", "", limit);
  CAPTURE(who, end.out, end.err);
  CHECK(end.status == 0);
  for (const std::string rank : {"0", "1", "2", "3"})
    CHECK_THAT(end.out, weft::tests::contains("rank " + rank +
                                              ": not all members of the group can share memory (" +
                                              (rank == who ? "mmap" : "another one")));
}
