// SPDX-License-Identifier: Apache-2.0
// A program that no launcher started, and the main function of usual programs.
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <weft/build.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

using namespace weft;
using weft::tests::contains;
using weft::tests::refusal;

namespace {

/// Sets a variable of the environment for a scope.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~variable() { ::unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* const name_;
};

task<void> needs_company(context& ctx) {
  static_cast<void>(ctx.world()[1]);
  co_return;
}

task<void> fails(context&) {
  throw std::runtime_error("on purpose");
  co_return;
}

task<void> ends_well(context&) { co_return; }
task<int> answers(context&) { co_return 42; }
task<int> counts_letters(context&, int, char** argv) {
  co_return static_cast<int>(std::string(argv[0]).size());
}

}  // namespace

TEST_CASE("alone: a rank that is not there names the launcher to type") {
  context ctx;
  CHECK_THAT(refusal([&] { static_cast<void>(ctx.world()[4]); }),
             contains("no rank 4") && contains("alone") && contains("`weft-run -n 5 ") &&
                 contains("test-api`"));
}

TEST_CASE("alone: a context that wants to be alone says so") {
  options o;
  o.standalone = true;
  context ctx(o);
  CHECK_THAT(refusal([&] { static_cast<void>(ctx.world()[1]); }),
             contains("options::standalone") && !contains("weft-run"));
}

TEST_CASE("run_main: the exit status is the task's") {
  CHECK(run_main(ends_well) == EXIT_SUCCESS);
  CHECK(run_main(answers) == 42);
  char name[] = "play", *argv[] = {name};
  CHECK(run_main(counts_letters, 1, argv) == 4);
}

TEST_CASE("run_main: a failure is an exit status, in the task and before it") {
  CHECK(run_main(needs_company) == EXIT_FAILURE);
  CHECK(run_main(fails) == EXIT_FAILURE);
  const variable wrong("WEFT_PROGRESS", "sideways");
  CHECK(run_main(ends_well) == EXIT_FAILURE);
}

TEST_CASE("a transport that is not built in is refused by name, and left out by default") {
  const context by_default;
  for (const build_part& part : build_parts()) {
    const std::string name = part.name;
    if (part.built_in || (name != "verbs" && name != "qdma")) continue;
    options o;
    o.transports = {"self", "shm+" + name};
    try {
      const context none(o);
      FAIL(name << " was taken");
    } catch (const error& e) {
      CHECK(e.kind() == errc::unsupported);
      CHECK_THAT(e.what(), contains(name) && contains(part.option));
    }
  }
}
