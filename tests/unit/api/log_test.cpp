// SPDX-License-Identifier: Apache-2.0
// options::log: what a context reports, and to whom.
#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>
#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using weft::tests::contains;

namespace {

/// The lines of a context, for options::log.
class kept_lines {
 public:
  log_settings settings(log_level most) {
    return {most, [this](log_level level, std::string_view line) {
              const std::lock_guard lock(mutex_);
              lines_.emplace_back(level, line);
            }};
  }
  /// Those of that level with that text.
  std::ptrdiff_t count(log_level level, const std::string& text) const {
    const std::lock_guard lock(mutex_);
    return std::count_if(lines_.begin(), lines_.end(), [&](const auto& one) {
      return one.first == level && one.second.find(text) != std::string::npos;
    });
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return lines_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<log_level, std::string>> lines_;
};

options logging(kept_lines& to, log_level most) {
  options o;
  o.standalone = true;
  o.log = to.settings(most);
  return o;
}

/// Two contexts meet, exchange a message, and end.
void meet_once(const options& first, const options& second) {
  context one(first);
  listener listening = run(one, one.listen("unix://weft-log-" + std::to_string(::getpid())));
  std::thread other([&, address = listening.address()] {
    context two(second);
    run(two, [](context& ctx, std::string where) -> task<void> {
      endpoint to = co_await ctx.connect(where);
      co_await to.send_value(tag{1}, 7);
    }(two, address));
  });
  run(one, [](listener& at) -> task<void> {
    endpoint from = co_await at.accept();
    int value = 0;
    co_await from.recv_value(tag{1}, value);
  }(listening));
  other.join();
}

}  // namespace

TEST_CASE("log: at level info each side hears of the links to its peer, and of the peer's end") {
  kept_lines first, second;
  meet_once(logging(first, log_level::info), logging(second, log_level::info));
  CHECK(first.count(log_level::info, "link from ") == 1);
  CHECK(first.count(log_level::info, "over shm") == 1);
  CHECK(first.count(log_level::info, " is gone: ") == 1);
  CHECK(second.count(log_level::info, "link to ") == 1);
  CHECK(second.count(log_level::info, "over shm") == 1);
  CHECK(first.count(log_level::debug, "") == 0);
}

TEST_CASE("log: at level debug a context tells its choices") {
  kept_lines lines;
  const context ctx(logging(lines, log_level::debug));
  CHECK(lines.count(log_level::debug, "progress: dedicated") == 1);
  CHECK(lines.count(log_level::debug, "transport: ") >= 1);
}

TEST_CASE("log: a context in good order reports nothing by default") {
  kept_lines lines;
  meet_once(logging(lines, options{}.log.most), logging(lines, options{}.log.most));
  CHECK(lines.size() == 0);
}

TEST_CASE("log: the sink hears what no operation reports, until the context's end") {
  kept_lines lines;
  const std::string folder = "weft-log-" + std::to_string(::getpid());
  REQUIRE(::mkdir(folder.c_str(), 0700) == 0);
  {
    options o = logging(lines, log_level::error);
    o.trace_file = folder + "/trace.json";
    const context ctx(o);
    REQUIRE(::unlink((folder + "/trace.json").c_str()) == 0);
    REQUIRE(::rmdir(folder.c_str()) == 0);
    CHECK(lines.size() == 0);
  }
  CHECK(lines.count(log_level::error, "the trace " + folder + "/trace.json could not be written") ==
        1);
}

TEST_CASE("log: a wrong level is refused, with all that there are") {
  options o;
  CHECK_THROWS_WITH(o.apply("WEFT_LOG=loud"),
                    contains("WEFT_LOG") && contains("none, error, warning, info or debug"));
  o.apply("WEFT_LOG=info");
  CHECK(o.log.most == log_level::info);
}
