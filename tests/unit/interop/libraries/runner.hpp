// SPDX-License-Identifier: Apache-2.0
// A context that a thread runs until the end of the test.
#pragma once

#include <chrono>
#include <stop_token>
#include <thread>

#include <weft/weft.hpp>

namespace weft::test {

class runner {
 public:
  explicit runner(context& ctx) : thread_([this, &ctx] { run(ctx, until_end()); }) {}
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  ~runner() {
    end_.request_stop();
    thread_.join();
  }
  std::thread::id id() const { return thread_.get_id(); }

 private:
  task<void> until_end() {
    const auto never = std::chrono::steady_clock::time_point::max();
    const auto ended = co_await as_result(stoppable(end_.get_token(), sleep_until(never)));
    (void)ended;
  }

  std::stop_source end_;
  std::thread thread_;
};

}  // namespace weft::test
