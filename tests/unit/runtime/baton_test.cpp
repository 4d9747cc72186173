// SPDX-License-Identifier: Apache-2.0
// The baton where fences for others are refused in mid-life. Its orders: tests/models/baton.pml.
#include <sys/syscall.h>

#include <cerrno>
#include <thread>

#include <catch2/catch.hpp>

#include "runtime/baton.hpp"
#include "support/seccomp.hpp"
#include "support/skip.hpp"

namespace weft::runtime::test {

// Before it was so, the thread was favoured again after a while, and both could be inside.
TEST_CASE("baton: nobody is favoured any more once the kernel refuses a fence") {
  baton b;
  if (!b.can_favour()) return tests::skip("the kernel makes no fences for others here");
  REQUIRE(b.try_take_favoured());
  b.give_unrevoked();
  bool filtered = false;
  std::thread other([&] {
    const tests::refusal no_fences[] = {{SYS_membarrier, EPERM}};
    filtered = tests::refuse(no_fences);  // of this thread only
    b.take();
    b.give();
  });
  other.join();
  REQUIRE(filtered);
  CHECK_FALSE(b.can_favour());
  for (int n = 0; n != 5000; ++n) {
    b.take_favoured();
    b.give_favoured();
  }
  CHECK_FALSE(b.try_take_favoured());
}

}  // namespace weft::runtime::test
