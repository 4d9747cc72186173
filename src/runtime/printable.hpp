// SPDX-License-Identifier: Apache-2.0
// Text of another process, for messages and terminals.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace weft::runtime {

/// Its beginning, with a question mark for everything but the printable characters of ASCII: what
/// another process says may move the cursor, or say what this one would never say.
/// \param most bytes that are kept
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);
std::string printable(std::span<const std::byte> text, std::size_t most);

}  // namespace weft::runtime
