// SPDX-License-Identifier: Apache-2.0
// The log of a context: lines for people, to the sink that its options name.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <weft/log.hpp>

namespace weft::runtime {

/// Shared by all parts of a context that report something, and passed to each when it is made.
/// Any thread, also with locks held. Not for a message's path.
class log {
 public:
  /// Lines on the standard error, behind "PREFIX: ".
  explicit log(std::string prefix = "weft") : prefix_(std::move(prefix)) {}
  explicit log(log_settings chosen) : chosen_(std::move(chosen)) {}

  /// Whether lines of that level go anywhere: for callers whose text costs something.
  bool wants(log_level level) const noexcept { return level <= chosen_.most; }

  void write(log_level level, std::string_view line) const noexcept;

  // The same, with a text by fmt. Without memory for the values, the line has none.
  template <class... Values>
  void error(fmt::format_string<Values...> text, Values&&... values) const noexcept {
    format(log_level::error, text, fmt::make_format_args(values...));
  }
  template <class... Values>
  void warning(fmt::format_string<Values...> text, Values&&... values) const noexcept {
    format(log_level::warning, text, fmt::make_format_args(values...));
  }
  template <class... Values>
  void info(fmt::format_string<Values...> text, Values&&... values) const noexcept {
    format(log_level::info, text, fmt::make_format_args(values...));
  }
  template <class... Values>
  void debug(fmt::format_string<Values...> text, Values&&... values) const noexcept {
    format(log_level::debug, text, fmt::make_format_args(values...));
  }

 private:
  void format(log_level level, fmt::string_view text, fmt::format_args values) const noexcept;
  void print(std::string_view line) const noexcept;

  const std::string prefix_ = "weft";
  const log_settings chosen_;
  mutable std::mutex one_at_a_time_;  // held while the sink is called
};

using log_ptr = std::shared_ptr<const log>;

/// Of what has no context, or none yet. \param prefix of each line
inline log_ptr log_on_standard_error(std::string prefix = "weft") {
  return std::make_shared<const log>(std::move(prefix));
}

}  // namespace weft::runtime
