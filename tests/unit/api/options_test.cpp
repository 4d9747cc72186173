// SPDX-License-Identifier: Apache-2.0
// Options that a program made by itself are checked as those of the environment are, and what is
// said names both.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>

#include <weft/weft.hpp>

using namespace weft;
using Catch::Contains;
using namespace std::chrono_literals;

namespace {

/// What is said of options that make no sense.
std::string refusal_of_options(const std::function<void(options&)>& change) {
  options o;
  o.progress = progress_mode::polling;
  change(o);
  try {
    const context never(o);
  } catch (const error& e) {
    CHECK(e.kind() == errc::invalid_argument);
    return e.what();
  }
  return "a context was made";
}

}  // namespace

TEST_CASE("options: what no variable could say is refused, by both names") {
  const auto names = [](const char* option, const char* variable) {
    return Contains(std::string("options::") + option) && Contains(variable);
  };
  CHECK_THAT(refusal_of_options([](options& o) { o.progress = progress_mode(17); }),
             names("progress", "WEFT_PROGRESS"));
  CHECK_THAT(refusal_of_options([](options& o) { o.spin = -1us; }), names("spin", "WEFT_SPIN"));
  CHECK_THAT(refusal_of_options([](options& o) { o.peer_timeout = 0s; }),
             names("peer_timeout", "WEFT_PEER_TIMEOUT") && Contains("2 to 86400"));
  CHECK_THAT(refusal_of_options([](options& o) { o.peer_timeout = -5s; }),
             names("peer_timeout", "WEFT_PEER_TIMEOUT"));
  CHECK_THAT(refusal_of_options([](options& o) { o.verbs_gid_index = 999; }),
             names("verbs_gid_index", "WEFT_VERBS_GID_INDEX"));
  CHECK_THAT(refusal_of_options([](options& o) { o.tcp_links = 0; }),
             names("tcp_links", "WEFT_TCP_LINKS"));
  CHECK_THAT(refusal_of_options([](options& o) { o.wait_set = "select"; }),
             names("wait_set", "WEFT_WAIT_SET") && Contains("epoll"));
  CHECK_THAT(refusal_of_options([](options& o) { o.large_messages = "x"; }),
             names("large_messages", "WEFT_LARGE"));
  CHECK_THAT(refusal_of_options([](options& o) { o.job_key = "x"; }),
             names("job_key", "WEFT_JOB_KEY"));
  CHECK_THAT(refusal_of_options([](options& o) { o.transports = {}; }),
             names("transports", "WEFT_TRANSPORTS"));
  CHECK_THAT(refusal_of_options([](options& o) {
               o.transports = {"shm", "shm"};
             }),
             names("transports", "WEFT_TRANSPORTS"));
}

TEST_CASE("options: a variable that makes no sense is named") {
  const auto refused = [](const char* name, const char* value) {
    ::setenv(name, value, 1);
    std::string said = "they were read";
    try {
      static_cast<void>(options::from_environment());
    } catch (const error& e) {
      said = e.what();
    }
    ::unsetenv(name);
    return said;
  };
  CHECK_THAT(refused("WEFT_WAIT_SET", "select"), Catch::StartsWith("WEFT_WAIT_SET=\"select\""));
  CHECK_THAT(refused("WEFT_TRANSPORTS", ""), Catch::StartsWith("WEFT_TRANSPORTS=\"\""));
  CHECK_THAT(refused("WEFT_LARGE", "x"), Catch::StartsWith("WEFT_LARGE=\"x\""));
}
