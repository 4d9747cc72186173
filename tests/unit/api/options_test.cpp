// SPDX-License-Identifier: Apache-2.0
// Options that a program sets itself are checked like those of the environment, and the error names
// both.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include <unistd.h>
#include <weft/environment.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using weft::tests::contains;
using namespace std::chrono_literals;

namespace {

/// Checks that a context is refused, and that the error contains all these words.
void check_refused(const std::function<void(options&)>& change,
                   std::initializer_list<const char*> named) {
  options o;
  o.progress = progress_mode::polling;
  change(o);
  std::string said = "a context was made";
  try {
    const context never(o);
  } catch (const error& e) {
    CHECK(e.kind() == errc::invalid_argument);
    said = e.what();
  }
  for (const char* word : named) CHECK_THAT(said, contains(word));
}

}  // namespace

TEST_CASE("options: what no variable could say is refused, by both names") {
  check_refused([](options& o) { o.progress = progress_mode(17); },
                {"options::progress", "WEFT_PROGRESS"});
  check_refused([](options& o) { o.progress_cpus = "all"; },
                {"options::progress_cpus", "WEFT_PROGRESS_CPUS", "inherit", "8-15,20"});
  check_refused([](options& o) { o.experimental.polling = poll_policy(17); },
                {"options::experimental.polling", "WEFT_POLL_POLICY"});
  check_refused([](options& o) { o.experimental.stores = ring_stores(17); },
                {"options::experimental.stores", "WEFT_SHM_STORES", "streaming"});
  check_refused(
      [](options& o) {
        o.experimental.stores = ring_stores::streaming;
        o.experimental.streamed_from = 100;
      },
      {"options::experimental.stores", "WEFT_SHM_STORES", "at least 4k"});
  check_refused([](options& o) { o.spin = -1us; }, {"options::spin", "WEFT_SPIN"});
  check_refused([](options& o) { o.peer_timeout = 0s; },
                {"options::peer_timeout", "WEFT_PEER_TIMEOUT", "2 to 86400"});
  check_refused([](options& o) { o.peer_timeout = -5s; },
                {"options::peer_timeout", "WEFT_PEER_TIMEOUT"});
  check_refused([](options& o) { o.stop_timeout = 0s; },
                {"options::stop_timeout", "WEFT_STOP_TIMEOUT", "1 to 86400"});
  check_refused([](options& o) { o.start_timeout = 0s; },
                {"options::start_timeout", "WEFT_START_TIMEOUT", "1 to 86400"});
  check_refused([](options& o) { o.verbs_gid_index = 999; },
                {"options::verbs_gid_index", "WEFT_VERBS_GID_INDEX"});
  check_refused([](options& o) { o.lanes = 0; }, {"options::lanes", "WEFT_LANES", "1 to 32"});
  check_refused([](options& o) { o.lanes = 33; }, {"options::lanes", "WEFT_LANES"});
  check_refused([](options& o) { o.calls_at_once = 0; },
                {"options::calls_at_once", "WEFT_CALLS_AT_ONCE", "1 to 65536"});
  check_refused([](options& o) { o.tcp_links = 0; }, {"options::tcp_links", "WEFT_TCP_LINKS"});
  check_refused([](options& o) { o.tcp_tls = tcp_encryption(17); },
                {"options::tcp_tls", "WEFT_TCP_TLS", "auto, yes or no"});
  check_refused([](options& o) { o.wait_set = "select"; },
                {"options::wait_set", "WEFT_WAIT_SET", "epoll"});
  check_refused([](options& o) { o.experimental.shm_copy = "x"; },
                {"options::experimental.shm_copy", "WEFT_SHM_COPY"});
  check_refused([](options& o) { o.job_key = "x"; }, {"options::job_key", "WEFT_JOB_KEY"});
  check_refused([](options& o) { o.transports = {}; }, {"options::transports", "WEFT_TRANSPORTS"});
  check_refused([](options& o) { o.transports.assign(2, "shm"); },
                {"options::transports", "WEFT_TRANSPORTS"});
}

TEST_CASE("options: as much as can be said at all is no mistake") {
  options o;
  o.progress = progress_mode::polling;
  o.eager_limit = o.unexpected_budget = o.regions.most_bytes = SIZE_MAX;
  o.eager_limits["shm"] = SIZE_MAX;
  o.spin = std::chrono::hours{1};
  CHECK_NOTHROW(context(o));
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
  CHECK_THAT(refused("WEFT_WAIT_SET", "select"),
             weft::tests::starts_with("WEFT_WAIT_SET=\"select\""));
  CHECK_THAT(refused("WEFT_TRANSPORTS", ""), weft::tests::starts_with("WEFT_TRANSPORTS=\"\""));
  CHECK_THAT(refused("WEFT_SHM_COPY", "x"), weft::tests::starts_with("WEFT_SHM_COPY=\"x\""));
}

TEST_CASE("options: a variable is for an experiment exactly if its option is") {
  const auto is_experimental = [](const environment_variable& v) {
    return std::string_view(v.option).starts_with("experimental.");
  };
  const auto& settings = setting_variables();
  const auto& experiments = experiment_variables();
  CHECK(std::none_of(settings.begin(), settings.end(), is_experimental));
  CHECK(std::all_of(experiments.begin(), experiments.end(), is_experimental));
  CHECK(environment_variables().size() == settings.size() + experiments.size());
}

TEST_CASE("options: credit is fixed, or as the budget allows") {
  options o;
  o.apply("WEFT_CREDIT=64k");
  CHECK(o.experimental.fixed_credit == 64u << 10);
  CHECK_NOTHROW(context(o));
  o.apply("WEFT_CREDIT=auto");
  CHECK_FALSE(o.experimental.fixed_credit);
  CHECK_THROWS_WITH(o.apply("WEFT_CREDIT=much"), contains("WEFT_CREDIT"));
}

TEST_CASE("options: the limit of messages through memory is none, or bytes") {
  options o;
  CHECK_FALSE(o.shm_limit);
  o.apply("WEFT_SHM_LIMIT=256k");
  CHECK(o.shm_limit == 256u << 10);
  CHECK_NOTHROW(context(o));
  CHECK_THROWS_WITH(o.apply("WEFT_SHM_LIMIT=far"), contains("WEFT_SHM_LIMIT"));
  o.apply("WEFT_SHM_LIMIT=none");
  CHECK_FALSE(o.shm_limit);
}

TEST_CASE("options: the eager limit is one for all transports, or of single ones") {
  options o;
  o.apply("WEFT_EAGER_LIMIT=shm=256k,verbs+tcp=1m,8k,tcp=auto");
  CHECK(o.eager_limit == 8u << 10);
  CHECK(o.eager_limits == decltype(o.eager_limits){{"shm", 256u << 10}, {"verbs+tcp", 1u << 20}});
  o.apply("WEFT_EAGER_LIMIT=tcp=64k");
  CHECK_FALSE(o.eager_limit);
  CHECK(o.eager_limits == decltype(o.eager_limits){{"tcp", 64u << 10}});
  o.apply("WEFT_EAGER_LIMIT=auto");
  CHECK(o.eager_limits.empty());
  for (const char* wrong :
       {"", ",", "x", "8k,16k", "shm=", "=8k", "shm=8q", "ib=8k", "shm+ib=8k", "shm=8k,shm=8k",
        "auto,auto", "shm=8k=9k", "shm=-1", "shm=99999999999g"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH(o.apply("WEFT_EAGER_LIMIT=" + std::string(wrong)),
                      contains("WEFT_EAGER_LIMIT") && contains("makes no sense; it can be "));
    CHECK(o.eager_limits.empty());
  }
  check_refused([](options& wrong) { wrong.eager_limits["ib"] = 5; },
                {"options::eager_limit", "WEFT_EAGER_LIMIT", "ib=5", "verbs"});
}

TEST_CASE("options: a configuration file is read first, then the environment") {
  const std::string path = "/tmp/weft-options-" + std::to_string(::getpid()) + ".conf";
  const auto read = [&](const std::string& text) {
    std::ofstream(path) << text;
    ::setenv("WEFT_CONFIG", path.c_str(), 1);
    std::string said;
    options o;
    try {
      o = options::from_environment();
    } catch (const error& e) {
      said = e.what();
    }
    ::unsetenv("WEFT_CONFIG");
    ::unlink(path.c_str());
    return std::pair(o, said);
  };
  ::setenv("WEFT_SPIN", "7", 1);
  const auto [o, said] = read(
      "# of this cluster\n\n  WEFT_PROGRESS = polling\r\nWEFT_SPIN=5\nWEFT_EAGER_LIMIT=1k\n"
      "WEFT_EAGER_LIMIT=2k");
  ::unsetenv("WEFT_SPIN");
  CHECK(said.empty());
  CHECK(o.progress == progress_mode::polling);
  CHECK(o.spin == 7us);
  CHECK(o.eager_limit == 2048);

  CHECK(read("").second.empty());
  CHECK_FALSE(read("WEFT_EAGER_LIMIT=1k\nWEFT_EAGER_LIMIT=auto").first.eager_limit);
  CHECK_THAT(read("\nWEFT_SPIN=x").second, weft::tests::starts_with(path + ":2: WEFT_SPIN=\"x\""));
  CHECK_THAT(read("WEFT_SPIM=1").second,
             contains(path + ":1: ") && contains("weft-info --experiments"));
  CHECK_THAT(read("WEFT_SPIN").second, contains("NAME=value"));
  CHECK_THAT(read("WEFT_JOB_KEY=0123").second, contains("WEFT_JOB_KEY_FILE"));
}

TEST_CASE("options: a configuration file that cannot be read is an error") {
  const std::string path = GENERATE("/nonexistent/weft.conf", "/tmp");
  options o;
  try {
    o.apply_file(path);
    FAIL("it was read");
  } catch (const error& e) {
    CHECK(e.kind() == errc::system);
    CHECK_THAT(e.what(), contains(path));
  }
}
