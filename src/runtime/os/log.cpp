// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/log.hpp"

#include "runtime/os/standard_error.hpp"

namespace weft::runtime {

void log::write(log_level level, std::string_view line) const noexcept {
  if (!wants(level) || level == log_level::none) return;
  try {
    if (chosen_.sink) {
      const std::lock_guard lock(one_at_a_time_);
      return chosen_.sink(level, line);
    }
  } catch (...) {
    // The line is worth more than the sink's reason.
  }
  print(line);
}

void log::format(log_level level, fmt::string_view text, fmt::format_args values) const noexcept {
  if (!wants(level)) return;
  try {
    fmt::memory_buffer line;
    fmt::vformat_to(std::back_inserter(line), text, values);
    write(level, {line.data(), line.size()});
  } catch (...) {
    write(level, {text.data(), text.size()});
  }
}

void log::print(std::string_view line) const noexcept {
  try {
    fmt::memory_buffer whole;
    fmt::format_to(std::back_inserter(whole), "{}: {}\n", prefix_, line);
    write_to_standard_error({whole.data(), whole.size()});
  } catch (...) {
    write_to_standard_error(line);
    write_to_standard_error("\n");
  }
}

}  // namespace weft::runtime
