// SPDX-License-Identifier: Apache-2.0
// What started a process, from its environment.
#include <map>
#include <string>

#include <weft/error.hpp>

#include "support/catch.hpp"
#include "wireup/bootstrap/starter.hpp"

namespace weft::wireup::test {

namespace {

using variables = std::map<std::string, std::string>;

surroundings with(const variables& all, const std::string& host = "alone") {
  return {[all](const char* name) -> std::optional<std::string> {
            const auto at = all.find(name);
            if (at == all.end() || at->second.empty()) return std::nullopt;
            return at->second;
          },
          [host] { return host; }};
}

const variables by_hand{{"WEFT_RANK", "1"}, {"WEFT_SIZE", "4"}, {"WEFT_ROOT", "node1:7000"}};
const variables slurm{{"SLURM_PROCID", "3"},
                      {"SLURM_STEP_NUM_TASKS", "8"},
                      {"SLURM_STEP_NODELIST", "node[03-07,9],login"},
                      {"SLURM_JOB_ID", "77"},
                      {"SLURM_STEP_ID", "0"}};
const variables torch{
    {"RANK", "2"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "29500"}};
const variables pod{{"JOB_COMPLETION_INDEX", "12"}, {"WEFT_SIZE", "16"}};

variables operator+(variables a, const variables& b) {
  for (const auto& [name, value] : b) a[name] = value;
  return a;
}

void check_refused(starter by, const variables& all, const char* words,
                   const std::string& host = "alone") {
  CAPTURE(words);
  CHECK_THROWS_WITH(rank_from(by, with(all, host)), weft::tests::contains(words));
}

}  // namespace

TEST_CASE("the first starter that is there counts") {
  CHECK(starters_of(with({})).empty());
  CHECK(starters_of(with(by_hand)) == std::vector{starter::by_hand});
  CHECK(starters_of(with(torch + slurm)) == std::vector{starter::slurm, starter::torchrun});
  CHECK(starters_of(with(slurm + variables{{"PMIX_NAMESPACE", "x"}})).front() == starter::pmix);
  CHECK(starters_of(with(by_hand + variables{{"PMIX_NAMESPACE", "x"}})).front() ==
        starter::by_hand);
  CHECK(starters_of(with(by_hand + variables{{"WEFT_JOB", "x"}})).front() == starter::weft_run);
  CHECK(starters_of(with(pod)) == std::vector{starter::kubernetes});
  // Each variable alone means nothing: RANK and the like are ordinary names.
  for (const variables& one : {by_hand, slurm, torch, pod})
    for (const auto& [name, value] : one) {
      if (name == "SLURM_JOB_ID" || name == "SLURM_STEP_ID") continue;
      CAPTURE(name);
      variables less = one;
      less.erase(name);
      CHECK(starters_of(with(less)).empty());
    }
}

TEST_CASE("rank, size and rank 0's address come from the starter's variables") {
  const given_rank hand = rank_from(starter::by_hand, with(by_hand));
  CHECK((hand.rank == 1 && hand.size == 4));
  CHECK(to_text(hand.root) == "node1:7000");

  const given_rank srun = rank_from(starter::slurm, with(slurm));
  CHECK((srun.rank == 3 && srun.size == 8));
  CHECK(srun.root.host == "node03");
  CHECK(srun.root.port == rank_from(starter::slurm, with(slurm)).root.port);
  CHECK(srun.root.port !=
        rank_from(starter::slurm, with(slurm + variables{{"SLURM_STEP_ID", "1"}})).root.port);
  const variables reserved = slurm + variables{{"SLURM_STEP_RESV_PORTS", "12010-12013"}};
  CHECK(rank_from(starter::slurm, with(reserved)).root.port == 12010);

  const given_rank torchrun = rank_from(starter::torchrun, with(torch));
  CHECK((torchrun.rank == 2 && torchrun.size == 4));
  CHECK(to_text(torchrun.root) == "10.0.0.1:29501");

  const given_rank k8s =
      rank_from(starter::kubernetes, with(pod, "heat-12.heat.default.svc.cluster.local"));
  CHECK((k8s.rank == 12 && k8s.size == 16));
  CHECK(to_text(k8s.root) == "heat-0.heat.default.svc.cluster.local:7471");
}

TEST_CASE("WEFT_ROOT takes the place of an address that would follow") {
  const variables root{{"WEFT_ROOT", "[fd00::1]:9000"}};
  for (const auto& [by, all] :
       {std::pair{starter::slurm, slurm}, {starter::torchrun, torch}, {starter::kubernetes, pod}})
    CHECK(to_text(rank_from(by, with(all + root)).root) == "[fd00::1]:9000");
  const auto parsed = [](const char* text) {
    return to_text(
        rank_from(starter::by_hand, with(by_hand + variables{{"WEFT_ROOT", text}})).root);
  };
  CHECK(parsed("node1") == "node1:7471");
  CHECK(parsed("fd00::1") == "[fd00::1]:7471");
  CHECK(parsed("[fd00::1]") == "[fd00::1]:7471");
  for (const char* bad : {"http://node1:7471", "[::1", "[::1]x:7471", ":7000", "node1:", "node1:x",
                          "node1:0", "node1:70000", "[]:1"})
    check_refused(starter::by_hand, by_hand + variables{{"WEFT_ROOT", bad}}, "write host:port");
}

TEST_CASE("variables that contradict each other are named") {
  check_refused(starter::by_hand, by_hand + variables{{"WEFT_RANK", "4"}},
                "WEFT_RANK=4 and WEFT_SIZE=4 do not fit together");
  check_refused(starter::torchrun, torch + variables{{"WORLD_SIZE", "many"}}, "WORLD_SIZE='many'");
  check_refused(starter::torchrun, torch + variables{{"RANK", "-1"}}, "RANK='-1'");
  check_refused(starter::torchrun, torch + variables{{"MASTER_PORT", "0"}}, "MASTER_PORT=0");
  check_refused(starter::slurm, slurm + variables{{"SLURM_PROCID", "8"}}, "SLURM_PROCID=8");
  check_refused(starter::kubernetes, pod, "headless service", "heat-12");
  check_refused(starter::kubernetes, pod, "WEFT_ROOT", "other.heat.default.svc");
}

TEST_CASE("more ranks than rank 0 can serve are refused") {
  check_refused(starter::by_hand, by_hand + variables{{"WEFT_SIZE", "1000000000"}}, "65536");
}

TEST_CASE("a process alone needs no address") {
  const variables alone =
      torch + variables{{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_PORT", "x"}};
  CHECK(rank_from(starter::torchrun, with(alone)).size == 1);
}

TEST_CASE("what is there, what is missing, and which counts can be shown") {
  const auto found = examine_starters(with(torch + variables{{"SLURM_PROCID", "0"}}));
  REQUIRE(found.size() == 6);
  for (const starter_finding& f : found) {
    CAPTURE(name_of(f.which), f.why);
    CHECK(f.chosen == (f.which == starter::torchrun));
    if (f.chosen)
      CHECK_THAT(f.why, weft::tests::contains("rank 2 of 4, rank 0 at 10.0.0.1:29501"));
    else
      CHECK_THAT(f.why, weft::tests::contains("is not set"));
  }
}

TEST_CASE("the first host of Slurm's lists") {
  CHECK(first_host_of("one") == "one");
  CHECK(first_host_of("one,two") == "one");
  CHECK(first_host_of("n[1-2]") == "n1");
  CHECK(first_host_of("n[07,9-12],m") == "n07");
  CHECK(first_host_of("r[1-2]n[03,4]x") == "r1n03x");
  CHECK(first_host_of("n[4") == "n4");
  CHECK(first_host_of("").empty());
}

}  // namespace weft::wireup::test
