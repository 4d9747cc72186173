// SPDX-License-Identifier: Apache-2.0
// Prints what a context waits for, when a signal asks for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/messenger/pending.hpp"
#include "runtime/trace/dump_signal.hpp"

namespace weft::detail {

class core;

/// The dumps of one context, with all its lanes, on the standard error. Its thread takes the
/// progress lock of each lane for as long as it makes the lines, and gives up after a second.
/// Owned by the first lane. docs/adr/0046-dumps.md
class dump {
 public:
  /// \param number of the signal
  /// \throws weft::error (system) when no thread can be started
  dump(core& first_lane, int number);

  /// One line for people: by which signal.
  std::string describe() const;

 private:
  void print() noexcept;
  std::string text();
  void add_lane(std::string& to, core& lane, std::optional<std::uint32_t> passes_before);

  core& first_lane_;
  const int number_;
  std::vector<proto::pending_history> before_;  // of each lane
  const runtime::dump_signal signal_;           // last: its thread uses the others
};

}  // namespace weft::detail
