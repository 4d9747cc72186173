// SPDX-License-Identifier: Apache-2.0
// A name server that does not answer delays only the operation that asked it: the context can still
// end.
#include "support/catch.hpp"
#include "world.hpp"

using namespace fault;

TEST_CASE("names: a context ends although a name server does not answer") {
  const std::string program_path = WEFT_TEST_BIN_DIR "/tests/names";
  const std::string preload = "LD_PRELOAD=" WEFT_TEST_BIN_DIR "/tests/libstuck_names.so";
  const std::vector<std::string> arguments =
      GENERATE(std::vector<std::string>{"connect", "any://stuck.test:7471"},
               std::vector<std::string>{"meet", "any://stuck.test:0", "unix://nobody-is-there"},
               std::vector<std::string>{"meet", "any://:0", "any://stuck.test:7471"});
  std::vector<std::string> command{"/usr/bin/env", preload, program_path};
  command.insert(command.end(), arguments.begin(), arguments.end());
  program p(command);
  CHECK(eventually([&] { return p.has_ended(); }));
  CAPTURE(p.output());
  CHECK(count(p.output(), "asked\n") >= 1);
  CHECK(count(p.output(), "given up\n") == 1);
  CHECK(count(p.output(), "ended\n") == 1);
}
