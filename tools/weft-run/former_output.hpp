// SPDX-License-Identifier: Apache-2.0
// weft-run --output: what a former job has left in the folder.
#pragma once

#include <cstdint>
#include <string>

namespace weft::run {

/// Removes the files rank.N.out and rank.N.err of ranks that the new job does not have: a reader
/// would take them for its own. Those that it has are replaced. Nothing else in the folder is
/// touched.
/// \param folder may not be there; empty: does nothing
/// \param ranks of the new job
/// \throws std::filesystem::filesystem_error that names what cannot be removed
void remove_former_output(const std::string& folder, std::uint32_t ranks);

}  // namespace weft::run
