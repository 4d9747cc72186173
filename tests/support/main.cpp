// SPDX-License-Identifier: Apache-2.0
// The runner of all tests: Catch's own, with exit code 77 when a test said that it cannot run here.
#define CATCH_CONFIG_RUNNER  // release 2
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#endif

#include "support/catch.hpp"
#include "support/skip.hpp"

int main(int argc, char** argv) {
  const int failures = Catch::Session().run(argc, argv);
  return failures == 0 && weft::tests::skipped() ? weft::tests::skip_exit_code : failures;
}
