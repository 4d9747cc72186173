// SPDX-License-Identifier: Apache-2.0
#include "runtime/cores/host_ranks.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <latch>
#include <string>
#include <string_view>
#include <thread>

#include "support/catch.hpp"
#include "support/skip.hpp"

namespace weft::runtime {

using namespace std::string_view_literals;

TEST_CASE("host ranks: the job in an environment") {
  CHECK(place_in("A=b\0WEFT_JOB=there\0WEFT_RANK=3\0"sv) == job_place{"there", "3"});
  CHECK(place_in("PMIX_RANK=0\0PMIX_NAMESPACE=n\0"sv) == job_place{"n", "0"});
  CHECK(place_in("PMIX_RANK=0\0PMIX_NAMESPACE=n\0WEFT_RANK=1\0WEFT_JOB=j"sv) ==
        job_place{"j", "1"});
  CHECK_FALSE(place_in("WEFT_JOB=j\0"sv));
  CHECK_FALSE(place_in("XWEFT_JOB=j\0WEFT_RANK=1\0"sv));
  CHECK_FALSE(place_in("WEFT_JOB\0WEFT_RANK=1\0"sv));
  CHECK_FALSE(place_in(""));
}

TEST_CASE("host ranks: this process's threads, without those of weft") {
  const cpu_set allowed = allowed_cpus();
  const cpu_set here = cpus_of(0);
  REQUIRE((here & ~allowed).none());
  if (here.count() < 2) return weft::tests::skip("it takes two cores");
  cpu_set one, other;
  for (std::size_t i = 0; i != here.size() && other.none(); ++i)
    if (here[i]) (one.none() ? one : other).set(i);
  REQUIRE(bind_thread(pthread_self(), one) == 0);
  CHECK(allowed_cpus() == allowed);
  std::latch bound(2), seen(1);
  const auto stay = [&](const char* name, const cpu_set& cpus) {
    return std::thread([&, name, cpus] {
      ::prctl(PR_SET_NAME, name);
      bind_thread(pthread_self(), cpus);
      bound.count_down();
      seen.wait();
    });
  };
  std::thread progress = stay("weft-progress", other), wide = stay("helper", allowed);
  bound.wait();
  CHECK(bound_cpus(::getpid(), allowed) == one);
  seen.count_down();
  progress.join();
  wide.join();
  bind_thread(pthread_self(), here);
  CHECK(bound_cpus(-1, allowed).none());
}

TEST_CASE("host ranks: what /sys tells of near cores contains them") {
  const cpu_set here = cpus_of(0);
  for (const cpu_set& near : near_cpus(here)) CHECK((near.none() || (here & ~near).none()));
}

}  // namespace weft::runtime
