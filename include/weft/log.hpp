// SPDX-License-Identifier: Apache-2.0
// What a context reports to people beside the errors of operations.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace weft {

/// How much a line of the log matters.
enum class log_level : std::uint8_t {
  none,     ///< as a choice only: nothing is reported
  error,    ///< something that was asked for was not done, and no operation reports that
  warning,  ///< another process, or the machine, did what it should not; said once, or ever more
            ///< rarely
  info,     ///< links to and from peers, with their transport, and peers that have gone
  debug     ///< also the context's choices, and the transports that did not serve
};

/// Takes the lines of a log: one line at a time, without a prefix or an end of line.
///
/// It is called by any thread of weft's or of the application's, also by such as hold locks of
/// weft. So it has to return soon, and must not call weft. It should not throw: then the line goes
/// to the standard error.
using log_sink = std::function<void(log_level level, std::string_view line)>;

/// options::log. It is copied when a context is made; the sink is called until the context's
/// destructor returns.
/// \code
/// weft::options o = weft::options::from_environment();
/// o.log.sink = [](weft::log_level level, std::string_view line) {
///   syslog(level == weft::log_level::error ? LOG_ERR : LOG_NOTICE, "%.*s",
///          static_cast<int>(line.size()), line.data());
/// };
/// weft::context ctx(o);
/// \endcode
struct log_settings {
  /// Lines of this level and of those before it are reported.
  log_level most = log_level::warning;
  /// Empty: each line goes to the standard error, behind "weft: ".
  log_sink sink;
};

}  // namespace weft
