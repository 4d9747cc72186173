// SPDX-License-Identifier: Apache-2.0
// The progress lock when the kernel begins to refuse membarrier. For its orders see
// tests/models/progress_lock.pml.
#include <sys/syscall.h>

#include <cerrno>
#include <thread>

#include "runtime/lock/progress_lock.hpp"
#include "support/catch.hpp"
#include "support/seccomp.hpp"
#include "support/skip.hpp"

namespace weft::runtime::test {

// A former defect: the thread was biased again after a while, and both threads could be inside.
TEST_CASE("progress lock: there is no bias any more once the kernel refuses a fence") {
  progress_lock b;
  if (!b.can_bias()) return tests::skip("the kernel makes no fences for others here");
  if (!tests::can_refuse()) return tests::skip("no seccomp filter");
  REQUIRE(b.try_lock_biased());
  b.unlock_unrevoked();
  bool filtered = false;
  std::thread other([&] {
    const tests::refusal no_fences[] = {{SYS_membarrier, EPERM}};
    filtered = tests::refuse(no_fences);  // of this thread only
    b.take();
    b.give();
  });
  other.join();
  REQUIRE(filtered);
  CHECK_FALSE(b.can_bias());
  for (int n = 0; n != 5000; ++n) {
    b.lock_biased();
    b.unlock_biased();
  }
  CHECK_FALSE(b.try_lock_biased());
}

}  // namespace weft::runtime::test
