// SPDX-License-Identifier: Apache-2.0
// Makes text of another process safe for messages and terminals.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace weft::runtime {

/// The beginning of the text, with a question mark for every character that is not printable ASCII:
/// the text of another process may move the cursor, or imitate output of this process.
/// \param most bytes that are kept
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);
std::string printable(std::span<const std::byte> text, std::size_t most);

}  // namespace weft::runtime
