// SPDX-License-Identifier: Apache-2.0
// Numbers of bytes in a command line, and figures for people.
#pragma once

#include <cstddef>
#include <string>

namespace weft::info {

/// 4096, 4k, 64K, 1m: the format of the WEFT_* variables.
/// \param where what an error message names as the place. \throws weft::error (invalid_argument)
std::size_t bytes_of(const std::string& text, const char* where);

/// Three digits that count, and no exponent.
std::string without_exponent(double value);

}  // namespace weft::info
