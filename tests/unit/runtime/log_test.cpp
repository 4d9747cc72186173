// SPDX-License-Identifier: Apache-2.0
// The log: which lines go where.
#include "runtime/os/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/descriptors/fd.hpp"
#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using namespace weft;
using namespace weft::runtime;

namespace {

/// What is written to the standard error while this lives.
class captured_errors {
 public:
  captured_errors() : before_(::dup(STDERR_FILENO)) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    read_ = unique_fd(ends[0]);
    const unique_fd write(ends[1]);
    ::dup2(write.get(), STDERR_FILENO);
  }
  ~captured_errors() { ::dup2(before_.get(), STDERR_FILENO); }
  std::string text() const {
    char some[4096];
    const ssize_t n = ::read(read_.get(), some, sizeof some);
    return n > 0 ? std::string(some, static_cast<std::size_t>(n)) : "";
  }

 private:
  unique_fd read_, before_;
};

struct line {
  log_level level;
  std::string text;
  bool operator==(const line&) const = default;
};

}  // namespace

TEST_CASE("log: without a sink, errors and warnings go to the standard error, each as a line") {
  const captured_errors errors;
  const runtime::log plain;
  plain.error("{} of {}", 1, 2);
  plain.warning("a warning");
  plain.info("not this");
  plain.debug("nor this");
  const runtime::log launcher("weft-run");
  launcher.warning("a rank");
  CHECK(errors.text() == "weft: 1 of 2\nweft: a warning\nweft-run: a rank\n");
}

TEST_CASE("log: a sink gets the lines up to its level, and the standard error nothing") {
  const captured_errors errors;
  std::vector<line> lines;
  const runtime::log all({.most = log_level::info, .sink = [&](log_level l, std::string_view text) {
                            lines.push_back({l, std::string(text)});
                          }});
  all.error("one {}", "error");
  all.info("a peer");
  all.debug("a detail");
  CHECK(all.wants(log_level::info));
  CHECK(!all.wants(log_level::debug));
  CHECK(lines == std::vector<line>{{log_level::error, "one error"}, {log_level::info, "a peer"}});
  CHECK(errors.text().empty());
}

TEST_CASE("log: with none, nothing is reported") {
  const captured_errors errors;
  int calls = 0;
  const runtime::log silent({.most = log_level::none, .sink = [&](auto, auto) { ++calls; }});
  silent.error("an error");
  silent.write(log_level::none, "a line");
  CHECK(calls == 0);
  CHECK(errors.text().empty());
}

TEST_CASE("log: the line of a sink that throws goes to the standard error") {
  const captured_errors errors;
  const runtime::log bad(
      {.sink = [](log_level, std::string_view) { throw std::runtime_error("a full disk"); }});
  bad.error("number {}", 7);
  bad.error("number {}", 8);
  CHECK(errors.text() == "weft: number 7\nweft: number 8\n");
}

TEST_CASE("log: a sink is called by one thread at a time") {
  std::atomic<int> inside{0}, most{0}, calls{0};
  const runtime::log shared({.sink = [&](log_level, std::string_view) {
    most = std::max(most.load(), ++inside);
    std::this_thread::yield();
    --inside;
    ++calls;
  }});
  std::vector<std::thread> all;
  for (int t = 0; t != 4; ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i != 100; ++i) shared.warning("from {}", t);
    });
  for (std::thread& t : all) t.join();
  CHECK(calls == 400);
  CHECK(most == 1);
}

TEST_CASE("log: without memory for the values, the line still comes") {
  if (!tests::counts_allocations())
    return tests::skip("the sanitizer's operator new cannot be replaced");
  const captured_errors errors;
  const std::string longer(5000, 'x');
  const runtime::log plain;
  {
    const tests::no_memory always(0, 1000);
    plain.error("it is {}", longer);
  }
  CHECK(errors.text() == "weft: it is {}\n");
}
