// SPDX-License-Identifier: Apache-2.0
// What the tests of lanes share.
#pragma once

#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "datagram.hpp"

namespace conformance {

inline weft::options with_lanes(unsigned lanes, const std::string& transport,
                                weft::progress_mode progress = weft::progress_mode::dedicated) {
  weft::options o;
  o.standalone = true;
  o.lanes = lanes;
  o.progress = progress;
  o.transport_factories = {datagram::kind()};
  o.transports = {"self", transport};
  return o;
}

/// Runs `work` of each lane of a context on a thread of its own. `join` throws their first failure.
class crew {
 public:
  template <class Work>
  void start(weft::context& lane, Work work) {
    threads_.emplace_back([this, &lane, work] {
      try {
        weft::run(lane, work(lane));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
    });
  }
  void join() {
    for (std::thread& t : threads_) t.join();
    threads_.clear();
    if (failure_) std::rethrow_exception(failure_);
  }
  ~crew() {
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

inline weft::task<void> ping(weft::endpoint other, int count) {
  std::byte word{};
  for (int i = 0; i != count; ++i) {
    co_await other.send(weft::const_buffer(&word, 1), weft::tag{1});
    co_await other.recv(weft::mutable_buffer(&word, 1), weft::tag{1});
  }
}
inline weft::task<void> pong(weft::endpoint other, int count) {
  std::byte word{};
  for (int i = 0; i != count; ++i) {
    co_await other.recv(weft::mutable_buffer(&word, 1), weft::tag{1});
    co_await other.send(weft::const_buffer(&word, 1), weft::tag{1});
  }
}

}  // namespace conformance
