// SPDX-License-Identifier: Apache-2.0
// A file whose readers never see a part of it.
#pragma once

#include <string>
#include <string_view>

namespace weft::detail {

/// Writes the text to FILE.tmp, and gives that the file's name. The folder has to be the user's
/// own, or one where others cannot replace files: a symbolic link FILE.tmp is refused. Blocks as
/// files do. \throws weft::error (system) that names the file and the cause
void replace_file(const std::string& file, std::string_view text);

}  // namespace weft::detail
