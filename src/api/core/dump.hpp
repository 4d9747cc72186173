// SPDX-License-Identifier: Apache-2.0
// Prints what a context waits for, when a signal asks for it.
#pragma once

#include <string>

#include "api/core/dump_report.hpp"
#include "runtime/os/log.hpp"
#include "runtime/trace/dump_signal.hpp"

namespace weft::detail {

/// The dumps of one context on the standard error, made on a thread of its own. Owned by the first
/// lane. docs/adr/0046-dumps.md
class dump {
 public:
  /// \param from outlives this
  /// \param number of the signal
  /// \throws weft::error (system) when no thread can be started
  dump(dump_report& from, runtime::log_ptr reports, int number);

  /// One line for people: by which signal.
  std::string describe() const;

 private:
  void print() noexcept;

  dump_report& report_;
  const runtime::log_ptr log_;
  const int number_;
  const runtime::dump_signal signal_;  // last: its thread uses the others
};

}  // namespace weft::detail
