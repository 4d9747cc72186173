// SPDX-License-Identifier: Apache-2.0
#include "api/core/dump.hpp"

#include <fmt/format.h>
#include <string.h>

#include <exception>
#include <utility>

#include "runtime/os/standard_error.hpp"

namespace weft::detail {

dump::dump(dump_report& from, runtime::log_ptr reports, int number)
    : report_(from),
      log_(std::move(reports)),
      number_(number),
      signal_(number, [this] { print(); }) {}

std::string dump::describe() const {
  return fmt::format("dumps: {}SIG{}\n",
                     signal_.is_installed() ? "by " : "none, the application handles ",
                     ::sigabbrev_np(number_));
}

void dump::print() noexcept {
  try {
    runtime::write_to_standard_error(report_.make(dump_format::text));
  } catch (const std::exception& e) {
    log_->error("no dump: {}", e.what());
  }
}

}  // namespace weft::detail
