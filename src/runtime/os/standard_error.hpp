// SPDX-License-Identifier: Apache-2.0
// Text for people on the standard error.
#pragma once

#include <string_view>

namespace weft::runtime {

/// Writes the text with one system call where that takes all of it, so that lines of several
/// threads and processes stay whole. What cannot be written is dropped. Any thread.
void write_to_standard_error(std::string_view text) noexcept;

}  // namespace weft::runtime
