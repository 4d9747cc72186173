// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "page/plan.hpp"

namespace weft::bench::page {

/// Runs what `how` asks for and writes `how.out`/report.html. \param weft its version
/// \return the page's path. Throws std::invalid_argument for descriptions that are missing or
/// wrong, std::runtime_error if a file cannot be written.
std::filesystem::path make_page(const page_options& how, const std::string& weft);

/// Prints the experiments that `how` chooses, and the time that their commands take.
void list_experiments(const page_options& how);

}  // namespace weft::bench::page
