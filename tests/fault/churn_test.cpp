// SPDX-License-Identifier: Apache-2.0
// Many connections that begin and end, in good order or not: programs/churn.cpp.
#include <iostream>

#include "support/catch.hpp"
#include "wireup/auth/job_key.hpp"
#include "world.hpp"

using namespace fault;

namespace {

void churn(const std::string& seconds) {
  enter_private_world();
  const outcome o = run(
      {bin + "/tests/churn", seconds},
      {"WEFT_TRANSPORTS=self,tcp", "WEFT_JOB_KEY=" + weft::wireup::job_key::random().to_text()});
  CAPTURE(o.output);
  CHECK(o.status == 0);
  CHECK(count(o.output, "came and went") == 1);
  CHECK(leftovers() == "");
  std::cout << o.output;
}

}  // namespace

TEST_CASE("churn: connections that come and go leave nothing") { churn("2"); }
TEST_CASE("churn: connections that come and go for five minutes leave nothing", "[.soak]") {
  for (int minute = 0; minute != 5; ++minute) churn("60");
}
