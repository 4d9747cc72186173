// SPDX-License-Identifier: Apache-2.0
// The file of options::metrics_file, which is replaced in intervals.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "runtime/os/exit_gate.hpp"
#include "runtime/os/log.hpp"

namespace weft::detail {

/// Writes at once, then in intervals on a thread of its own, which sleeps in between, and once more
/// at its end. The first failure is an exception, the second one, while the context lives, a line
/// of the log; later ones are silent until it works again. Owned by the first lane.
class metrics_file {
 public:
  /// \param text makes the text; called on the thread, and here
  /// \throws weft::error (system) when the file cannot be written, or no thread can be started
  metrics_file(std::string file, std::chrono::seconds interval, std::function<std::string()> text,
               runtime::log_ptr reports);
  ~metrics_file();
  metrics_file(const metrics_file&) = delete;
  metrics_file& operator=(const metrics_file&) = delete;

 private:
  void write() noexcept;
  void loop() noexcept;

  const std::string file_;
  const std::chrono::seconds interval_;
  const std::function<std::string()> text_;
  const runtime::log_ptr log_;
  bool failed_ = false;  // the last time; the thread's
  std::atomic<std::uint32_t> stopping_{0};
  runtime::exit_gate exit_gate_;
  std::thread thread_;
};

}  // namespace weft::detail
