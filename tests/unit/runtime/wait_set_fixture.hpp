// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the wait sets.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <weft/error.hpp>

#include "runtime/descriptors/event_fd.hpp"
#include "runtime/sleep/wait_set.hpp"
#include "support/catch.hpp"

namespace weft::runtime::test {

inline constexpr time_point never = time_point::max();

inline bool have_uring() {
  try {
    make_uring_wait_set();
    return true;
  } catch (const weft::error& e) {
    WARN("skipped for io_uring: " << e.what());
    return false;
  }
}

/// A test with this fixture runs once for each wait set that is available.
struct each_wait_set {
  std::string kind = have_uring() ? GENERATE(as<std::string>(), "uring", "epoll") : "epoll";
  Catch::ScopedMessage named{
      Catch::MessageBuilder("", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info) << kind};
  std::unique_ptr<wait_set> set = make_wait_set(kind).set;
};

/// A bell that counts its calls, and is reset only on request.
class counter final : public fd_watcher {
 public:
  explicit counter(bool reads = true) : reads_(reads) {}

  void on_ready(std::uint32_t events) noexcept override {
    ++told;
    last = events;
    if (reads_) bell.drain();
  }

  event_fd bell;
  unsigned told = 0;
  std::uint32_t last = 0;

 private:
  bool reads_;
};

}  // namespace weft::runtime::test
