// SPDX-License-Identifier: Apache-2.0
// Where progress threads run, on machines of several kinds.
#include "runtime/cores/progress_cpus.hpp"

#include <string>

#include "support/catch.hpp"

namespace weft::runtime {
namespace {

using weft::tests::contains;

cpu_set cpus(const char* list) { return parse_cpus(list).value(); }

/// A launched job whose ranks were all found; the first one asks.
core_use job(const char* allowed, std::initializer_list<const char*> bound) {
  core_use now{cpus(allowed), cpus(*bound.begin()), true, bound.size(), bound.size(), {}, {}};
  for (const char* one : bound) now.bound.push_back(cpus(one));
  return now;
}

/// \return the chosen cores; "none": inherit
std::string chosen(const core_use& now) { return text_of(choose_progress_cpus(now).cpus); }

void check_inherits(const core_use& now, const char* because, bool settled = true) {
  const progress_cpus got = choose_progress_cpus(now);
  CHECK(got.cpus.none());
  CHECK(got.settled == settled);
  CHECK_THAT(got.reason, contains(because));
}

}  // namespace

TEST_CASE("progress cpus: sixteen cores, one rank on each of eight") {
  core_use now = job("0-15", {"0", "1", "2", "3", "4", "5", "6", "7"});
  CHECK(chosen(now) == "8-15");
  now.near = {cpus("0"), cpus("0-15"), cpus("0-15")};  // no SMT, one L3
  CHECK(chosen(now) == "8-15");
}

TEST_CASE("progress cpus: two cores") {
  CHECK(chosen(job("0-1", {"0"})) == "1");
  check_inherits(job("0-1", {"0", "1"}), "no core is free");
  check_inherits(job("0-1", {"1", "1", "0"}), "no core is free");
}

TEST_CASE("progress cpus: a process that is not bound stays as it is") {
  check_inherits(job("0-15", {"0-15", "0-15"}), "every core of its job");
  check_inherits(job("0-1", {"0-1"}), "every core of its job");
  check_inherits(job("3", {"3"}), "every core of its job");
}

TEST_CASE("progress cpus: a binding that no launcher made is the user's") {
  core_use now = job("0-15", {"0-3"});
  now.launched = false;
  check_inherits(now, "no launcher");
}

TEST_CASE("progress cpus: a sibling of the rank's core, if no rank is there") {
  core_use now = job("0-15", {"0", "1", "2", "3"});  // 0 and 8 are one core, and so on
  now.near = {cpus("0,8"), cpus("0-3,8-11"), cpus("0-15")};
  CHECK(chosen(now) == "8");
  now.bound.push_back(cpus("8"));  // two ranks on one core
  now.ranks = now.found = 5;
  CHECK(chosen(now) == "4-7,9-15");  // three free cores in the L3 are too few for five ranks
}

TEST_CASE("progress cpus: whole cores with their siblings") {
  core_use now = job("0-15", {"0,8", "1,9"});
  now.near = {cpus("0,8"), cpus("0-3,8-11"), cpus("0-15")};
  CHECK(chosen(now) == "2-3,10-11");
}

TEST_CASE("progress cpus: a near cache that has too few free cores for its ranks") {
  core_use now = job("0-15", {"0", "1", "2", "3", "4", "5", "6"});
  now.near = {cpus("0"), cpus("0-7"), cpus("0-15")};
  CHECK(chosen(now) == "7-15");
}

TEST_CASE("progress cpus: fewer free cores than ranks") {
  check_inherits(job("0-3", {"0", "1", "2"}), "fewer free cores");
  check_inherits(job("0-1", {"0", "0"}), "fewer free cores");
}

TEST_CASE("progress cpus: ranks leave and come") {
  core_use now = job("0-3", {"0", "1", "2-3"});
  check_inherits(now, "no core is free");
  now.bound.pop_back();
  now.found = 2;
  now.ranks = 0;  // all were seen once
  CHECK(chosen(now) == "2-3");
  now.bound.push_back(cpus("3"));  // a peer that was started by itself
  check_inherits(now, "fewer free cores");
}

TEST_CASE("progress cpus: only what the cgroup allows") {
  CHECK(chosen(job("4-7", {"4", "5"})) == "6-7");
  check_inherits(job("4-5", {"4", "5"}), "no core is free");
  core_use now = job("4-7", {"4", "5"});
  now.near = {cpus("0,4"), cpus("0-7")};  // the sibling is another cgroup's
  CHECK(chosen(now) == "6-7");
}

TEST_CASE("progress cpus: ranks that are bound to a socket leave the other socket") {
  CHECK(chosen(job("0-15", {"0-7", "0-7"})) == "8-15");
  check_inherits(job("0-15", {"0-7", "8-15"}), "no core is free");
}

TEST_CASE("progress cpus: what is not known counts as taken") {
  core_use now = job("0-15", {"0", "1"});
  now.ranks = 3;
  check_inherits(now, "2 of 3 ranks", false);
  now = job("0-15", {"0", "1"});
  now.bound.emplace_back();
  check_inherits(now, "does not show", false);
  now = job("0-15", {"0", "0-15"});  // a rank that has not bound itself yet
  check_inherits(now, "no core is free", false);
  now = job("0-15", {"0"});
  now.allowed.reset();
  check_inherits(now, "cannot be read");
}

}  // namespace weft::runtime
