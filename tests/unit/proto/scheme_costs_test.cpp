// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "proto/select/scheme_costs.hpp"
#include "support/catch.hpp"

using namespace weft::proto;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t size = 1u << 20;

/// As many payloads as asked for, with constant costs. \return how many went by get
int run(scheme_costs& c, int payloads, std::chrono::nanoseconds frames,
        std::chrono::nanoseconds get, std::uint64_t bytes = size) {
  int gets = 0;
  for (int n = 0; n != payloads; ++n) {
    const payload_scheme how = c.choose(bytes);
    gets += how == payload_scheme::get;
    c.note(how, bytes, bytes, how == payload_scheme::get ? get : frames);
  }
  return gets;
}

}  // namespace

TEST_CASE("scheme costs: the cheaper scheme is used after a few trials of each") {
  scheme_costs c;
  run(c, 48, 100us, 50us);
  CHECK(run(c, 400, 100us, 50us) >= 392);
  scheme_costs other;
  run(other, 48, 50us, 100us);
  CHECK(run(other, 400, 50us, 100us) <= 8);
}

TEST_CASE("scheme costs: a trial of a much dearer scheme ends with its first payload") {
  scheme_costs c;
  CHECK(run(c, 20, 400us, 40us) >= 12);
  const int gets = run(c, 10'000, 400us, 40us);
  CHECK(gets > 9'950);
  CHECK(gets < 10'000);
  // One that is dear, but not so much, is measured as before.
  scheme_costs other;
  run(other, 20, 60us, 40us);
  CHECK(run(other, 10'000, 60us, 40us) < 9'900);
}

TEST_CASE("scheme costs: each size has its own") {
  scheme_costs c;
  run(c, 300, 100us, 50us, 4 * size);
  run(c, 300, 10us, 50us, size / 4);
  CHECK(run(c, 8, 100us, 50us, 4 * size) == 8);
  CHECK(run(c, 8, 10us, 50us, size / 4) == 0);
  CHECK(c.cost(payload_scheme::get, 4 * size) > 0);
  CHECK(c.cost(payload_scheme::get, 32 * size) == 0);
}

TEST_CASE("scheme costs: a new size begins as the nearest one") {
  scheme_costs c;
  run(c, 100, 100us, 50us);
  CHECK(run(c, 20, 400us, 200us, 4 * size) == 20);
  CHECK(run(c, 20, 25us, 12us, size / 4) == 20);
}

TEST_CASE("scheme costs: a scheme that becomes the better one is found again") {
  scheme_costs c;
  run(c, 100, 50us, 70us);
  CHECK(run(c, 10'000, 50us, 20us) > 5'000);
}

TEST_CASE("scheme costs: one sample far off changes little") {
  scheme_costs c;
  run(c, 200, 50us, 100us);
  c.note(payload_scheme::frames, size, size, 1s);
  run(c, 20, 50us, 100us);
  CHECK(c.cost(payload_scheme::frames, size) < c.cost(payload_scheme::get, size));
}

TEST_CASE("scheme costs: payloads that end in bunches are measured by the run") {
  scheme_costs c;
  for (int n = 0; n != 400; ++n) {
    const bool gets = c.choose(size) == payload_scheme::get;
    // Frames of eight payloads: the first one takes all of the time.
    c.note(gets ? payload_scheme::get : payload_scheme::frames, size, size,
           gets         ? 50us
           : n % 8 == 0 ? 800us
                        : 0us);
  }
  CHECK(c.cost(payload_scheme::frames, size) > 1.9 * c.cost(payload_scheme::get, size));
}

TEST_CASE("scheme costs: what receivers answer is known by size, after a few answers") {
  scheme_costs c;
  CHECK(c.receivers_get(size));  // as long as nothing is known
  for (int n = 0; n != 3; ++n) c.note_answer(size, false);
  CHECK(c.receivers_get(size));
  for (int n = 0; n != 20; ++n) c.note_answer(size, false);
  CHECK_FALSE(c.receivers_get(size));
  CHECK(c.receivers_get(8 * size));
  for (int n = 0; n != 3; ++n) c.note_answer(size, true);
  CHECK_FALSE(c.receivers_get(size));
  for (int n = 0; n != 3; ++n) c.note_answer(size, true);
  CHECK(c.receivers_get(size));
}

TEST_CASE("scheme costs: a table keeps each transport's") {
  scheme_cost_table t;
  CHECK(t.describe().empty());
  run(t.of("shm"), 48, 50us, 100us);
  CHECK(t.of("other").cost(payload_scheme::get, size) == 0);
  CHECK(t.of("shm").cost(payload_scheme::get, size) > 0);
  CHECK(t.describe().find("shm, up to 1024 KiB: frames 49 ns/KiB, get 98 ns/KiB") !=
        std::string::npos);
}
