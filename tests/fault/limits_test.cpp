// SPDX-License-Identifier: Apache-2.0
// Limits that are reached: on descriptors, address space and locked memory.
#include "job.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using namespace fault;

namespace {

/// Whether the limit was so low that not even the program's libraries could be loaded: the loader
/// says so, or a library crashes before main (oneTBB 2022 where its allocator finds no memory).
bool never_began(const outcome& o) { return count(o.output, "alone: begins") == 0; }

/// Tries limits, each higher than the one before: first the program fails with an error that names
/// the cure, then it succeeds.
/// \param cures one of these is in each error
void climb(const std::string& limit, int from, int to, int step,
           const std::vector<std::string>& cures) {
  int began = 0, failed = 0;
  outcome last{};
  for (int n = from; n <= to; n += step) {
    last = run({refuse_program, limit + "=" + std::to_string(n), "--", bin + "/tests/alone"});
    if (never_began(last)) continue;
    ++began;
    CAPTURE(limit, n, last.status, last.output);
    CHECK((last.status == 0 || last.status == 1));
    if (last.status == 0) continue;
    ++failed;
    std::size_t named = 0;
    for (const std::string& cure : cures) named += count(last.output, cure);
    CHECK(named >= 1);
    // The control plane says so if it was there that memory ran out.
    CHECK(count(last.output, "\n") ==
          2 + count(last.output, "weft: the control plane gives up what is under way"));
  }
  CHECK(began > 0);
  CHECK(failed > 0);
  CHECK(last.status == 0);
}

}  // namespace

TEST_CASE("limits: a context with any number of descriptors works, or says what to raise") {
  if (sanitized) return weft::tests::skip("a sanitizer needs descriptors of its own");
  climb("nofile", 4, 40, 1, {"ulimit -n"});
}

TEST_CASE("limits: a context with any amount of address space works, or says what is short") {
  if (sanitized) return weft::tests::skip("a sanitizer needs all of the address space");
  climb("as", 8 << 10, 400 << 10, 2 << 10, {"out of memory", "not enough memory", "ulimit -v"});
}

TEST_CASE("limits: a job whose ranks run out of descriptors ends, and says why") {
  if (sanitized) return weft::tests::skip("a sanitizer needs descriptors of its own");
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  int failed = 0;
  for (int n = 14; n <= 74; n += 4) {
    CAPTURE(transport, n);
    {
      job j({transport}, "dedicated", "300", {refuse_program, "nofile=" + std::to_string(n), "--"});
      const int status = j.launcher().wait();
      const std::string text = j.launcher().output();
      CAPTURE(text);
      if (count(text, "error while loading shared libraries") != 0) continue;
      CHECK(status >= 0);    // the program did not hang
      CHECK(status <= 126);  // and was not killed
      if (status == 0) continue;
      ++failed;
      CHECK(count(text, "ulimit -n") != 0);
    }
    CHECK(leftovers() == "");
  }
  CHECK(failed > 0);
  const outcome enough = run({refuse_program, "nofile=256", "--", bin + "/weft-run", "-n", "4",
                              bin + "/tests/all_to_all"});
  CAPTURE(enough.output);
  CHECK(enough.status == 0);
}

TEST_CASE("limits: no locked memory") {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  job j({transport}, "dedicated", "300", {refuse_program, "memlock=0", "--"});
  CHECK(j.launcher().wait() == 0);
}

TEST_CASE("limits: a peer whose messages do not fit into memory is ended, and no other") {
  if (sanitized) return weft::tests::skip("a sanitizer needs all of the address space");
  const std::string transport = GENERATE(from_range(transports()));
  const outcome o =
      run({bin + "/weft-run", "-n", "3", bin + "/tests/hungry"}, {"WEFT_TRANSPORTS=" + transport});
  CAPTURE(o.output);
  CHECK(o.status == 0);
  CHECK(count(o.output, "flooded: out of memory: ") == 1);
  CHECK(count(o.output, "the flood ends: ") == 1);
  CHECK(count(o.output, "the other side gave the connection up: out of memory") == 1);
  CHECK(count(o.output, "the other one is served") == 1);
}

namespace {

/// \param refused how many allocations of rank 1 fail, from each `step`th on
void refuse_memory(int step, int refused) {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  for (int from = 0; from < 320; from += step) {
    CAPTURE(transport, from, refused);
    const outcome o =
        run({bin + "/weft-run", "-n", "3", bin + "/tests/rationed"},
            {"WEFT_TRANSPORTS=" + transport, "WEFT_TEST_REFUSE_FROM=" + std::to_string(from),
             "WEFT_TEST_REFUSE=" + std::to_string(refused)});
    CAPTURE(o.output);
    CHECK((o.status == 0 || o.status == 1));  // not hung, and not killed
    if (o.status != 0) CHECK(count(o.output, "rationed: ") != 0);
  }
}

}  // namespace

TEST_CASE("limits: whatever an allocation was for, its failure is an error or does no harm") {
  if (sanitized) return weft::tests::skip("a sanitizer brings its own operator new");
  refuse_memory(7, 1);
}

TEST_CASE("limits: any allocation fails", "[.soak]") {
  if (sanitized) return weft::tests::skip("a sanitizer brings its own operator new");
  refuse_memory(1, 1);
}
