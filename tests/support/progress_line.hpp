// SPDX-License-Identifier: Apache-2.0
// Progress output of a long run on standard error.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <string_view>

namespace weft::tests {

/// One line: on a terminal updated each second, elsewhere a new one each minute. One thread.
class progress_line {
 public:
  /// \param quiet shows nothing
  explicit progress_line(bool quiet) : quiet_(quiet), terminal_(::isatty(2) != 0) {}

  /// \param text makes the line; called only when a line is due
  template <class Text>
  void show(Text text) {
    if (quiet_ || clock::now() < next_) return;
    next_ = clock::now() + (terminal_ ? std::chrono::seconds(1) : std::chrono::seconds(60));
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r\033[K" : "", text(), terminal_ ? "" : "\n");
    shown_ = terminal_;
  }

  /// Before anything else is printed.
  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  using clock = std::chrono::steady_clock;

  const bool quiet_, terminal_;
  bool shown_ = false;
  clock::time_point next_ = clock::now() + std::chrono::seconds(1);
};

}  // namespace weft::tests
