// SPDX-License-Identifier: Apache-2.0
#include "progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace heat {

progress_line::progress_line(when shown, std::uint32_t steps)
    : steps_(steps),
      terminal_(isatty(STDERR_FILENO) == 1),
      shown_(steps > 0 && (shown == when::always || (shown == when::on_a_terminal && terminal_))) {}

progress_line::~progress_line() {
  if (unfinished_) fmt::print(stderr, "\n");
}

void progress_line::show(std::uint32_t done) {
  if (!shown_ || done < next_) return;
  const std::uint64_t parts = terminal_ ? 100 : 10;
  next_ = static_cast<std::uint32_t>((done * parts / steps_ + 1) * steps_ / parts);

  const std::uint64_t percent = std::uint64_t{100} * done / steps_;
  if (terminal_) {
    unfinished_ = done < steps_;
    fmt::print(stderr, "\rheat: [{:-<40}] {:3} %  step {} of {}{}",
               std::string(percent * 40 / 100, '#'), percent, done, steps_,
               unfinished_ ? "" : "\n");
  } else {
    fmt::print(stderr, "heat: {:3} %  step {} of {}\n", percent, done, steps_);
  }
  std::fflush(stderr);
}

}  // namespace heat
