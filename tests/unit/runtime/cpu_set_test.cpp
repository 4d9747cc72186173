// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "runtime/os/cpu_set.hpp"
#include "support/catch.hpp"

namespace weft::runtime {

TEST_CASE("cpu_set: lists as the kernel writes them") {
  for (const char* list : {"0", "8-15,20", "0-3,5,7-9", "1023"})
    CHECK(text_of(parse_cpus(list).value()) == list);
  CHECK(text_of(parse_cpus("3,1,2,2-2").value()) == "1-3");
  CHECK(text_of({}) == "none");
  for (const char* wrong : {"", ",", "1,", ",1", "1-", "-1", "3-1", "1024", "a", "1 2", "0x1"})
    CHECK_FALSE(parse_cpus(wrong));
}

TEST_CASE("cpu_set: what the kernel allows a thread") {
  const cpu_set own = cpus_of(0);
  REQUIRE(own.any());
  CHECK(cpus_of_thread(pthread_self()) == own);
  CHECK(bind_thread(pthread_self(), own) == 0);
  CHECK(bind_thread(pthread_self(), {}) == EINVAL);
  CHECK(cpus_of(0) == own);
}

}  // namespace weft::runtime
