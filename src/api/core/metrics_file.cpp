// SPDX-License-Identifier: Apache-2.0
#include "api/core/metrics_file.hpp"

#include <exception>
#include <utility>

#include "api/core/replace_file.hpp"
#include "runtime/os/nap.hpp"
#include "runtime/os/own_thread.hpp"

namespace weft::detail {

metrics_file::metrics_file(std::string file, std::chrono::seconds interval,
                           std::function<std::string()> text, runtime::log_ptr reports)
    : file_(std::move(file)),
      interval_(interval),
      text_(std::move(text)),
      log_(std::move(reports)) {
  replace_file(file_, text_());
  thread_ = runtime::start_own_thread("weft-metrics", "thread for the file of counters",
                                      [this] { loop(); });
}

metrics_file::~metrics_file() {
  exit_gate_.open_for_good();
  stopping_.store(1);
  runtime::end_naps(stopping_);
  thread_.join();
  write();
}

void metrics_file::write() noexcept {
  try {
    replace_file(file_, text_());
    failed_ = false;
  } catch (const std::exception& e) {
    if (!std::exchange(failed_, true)) log_->warning("the counters: {}", e.what());
  }
}

void metrics_file::loop() noexcept {
  auto next = std::chrono::steady_clock::now() + interval_;
  while (stopping_.load() == 0) {
    const auto left = next - std::chrono::steady_clock::now();
    if (left > std::chrono::nanoseconds(0)) {
      runtime::nap(stopping_, 0, left);
      continue;
    }
    exit_gate_.begin_work();
    write();
    exit_gate_.end_work();
    next = std::chrono::steady_clock::now() + interval_;
  }
}

}  // namespace weft::detail
