// SPDX-License-Identifier: Apache-2.0
// The setting of WEFT_SHM_STORES that follows from measurements.
#include "messages/kinds_proposal.hpp"
#include "support/catch.hpp"

using weft::bench::propose_streamed_from;
using weft::bench::stores_ratios;

TEST_CASE("kinds: streaming stores are proposed from the size on from which they help") {
  CHECK(propose_streamed_from({}) == std::nullopt);
  CHECK(propose_streamed_from({{4096, {1.08, 0.8}}, {16384, {0.9, 1.0}}, {49152, {0.7, 0.7}}}) ==
        16384);
  CHECK(propose_streamed_from({{4096, {0.9, 0.9}}, {16384, {0.9, 0.9}}}) == 4096);
}

TEST_CASE(
    "kinds: streaming stores that help at some sizes, or in some ways only, are not proposed") {
  CHECK(propose_streamed_from({{4096, {0.5, 0.5}}, {16384, {0.9, 1.1}}}) == std::nullopt);
  CHECK(propose_streamed_from({{4096, {0.5, 0.5}}, {16384, {1.0, 1.0}}}) == std::nullopt);
}
