// SPDX-License-Identifier: Apache-2.0
// Which command lines a server of weft-bench runs for its clients.

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/build.hpp>

#include "serve/command_line.hpp"
#include "support/catch.hpp"

using namespace weft::bench;

namespace {

/// A parser with a benchmark of two sides and one that starts its processes itself.
struct parser {
  CLI::App app;
  std::string value;

  parser() {
    CLI::App* const latency = app.add_subcommand("latency");
    for (const char* name : {"--size", "--transport", "--to", "--key-file"})
      latency->add_option(name, value);
    latency->add_flag("--json");
    app.add_subcommand("compare")->add_option("--size", value);
  }
};

/// Empty: the words are accepted.
std::string refusal_of(const std::string& private_data) {
  const parser p;
  try {
    words_in(private_data, p.app);
    return {};
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

std::string refusal_of_words(const std::vector<std::string>& words) {
  return refusal_of(private_data_of(words));
}

}  // namespace

TEST_CASE("A server runs the benchmark and the options that its client names") {
  const parser p;
  const std::vector<std::string> words{"latency", "--size", "8,64K", "--transport=tcp", "--json"};
  REQUIRE(words_in(private_data_of(words), p.app) == words);
}

TEST_CASE("A server runs no unknown benchmark, no unknown option and nothing with a path") {
  CHECK(refusal_of_words({"compare", "--size", "8"}) == "compare is no benchmark of two sides");
  CHECK(refusal_of_words({"--json"}) == "--json is no benchmark of two sides");
  CHECK(refusal_of_words({}) == "the client named no benchmark");
  CHECK(refusal_of_words({"latency", "--nope"}) == "latency has no option --nope for a server");
  CHECK(refusal_of_words({"latency", "-h"}) == "latency has no option -h for a server");
  CHECK(refusal_of_words({"latency", "--to", "other"}) ==
        "latency has no option --to for a server");
  for (const char* word : {"/etc/passwd", "a b", "$(id)", "x\x01", "..\\x", "\xc3\xa4"}) {
    CAPTURE(word);
    CHECK(refusal_of_words({"latency", "--size", word}) ==
          "a server takes only words of letters, digits and -_.,=+");
  }
  CHECK(refusal_of_words({"latency", "", "--json"}) ==
        "a server takes only words of letters, digits and -_.,=+");
}

TEST_CASE("A client of another version, or another program, is told so by the server") {
  const std::string mine = weft::version();
  CHECK(refusal_of("weft-bench\n0.0.9\nlatency") ==
        "the server is weft-bench " + mine +
            ", the client another version: install the same on both hosts");
  for (const char* data : {"", "\n", "GET / HTTP/1.1\n", "weft-bench"}) {
    CAPTURE(data);
    CHECK_FALSE(refusal_of(data).empty());
  }
  CHECK(refusal_of("") == "here serves weft-bench, and the client is another program");
}

TEST_CASE("A command line that does not fit into a request is refused at the client") {
  CHECK_THROWS_WITH(private_data_of({"latency", "--size", std::string(2000, '8')}),
                    weft::tests::contains("too long for a server"));
}
