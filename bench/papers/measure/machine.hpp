// SPDX-License-Identifier: Apache-2.0
// The machine and the versions that a page was measured with.
#pragma once

#include <string>

#include "output/json_lines.hpp"

namespace weft::bench::page {

/// Names and texts in the order of the page: date, processor, cores and
/// what they need for each other's memory (a short measurement), memory, kernel, compiler,
/// weft, Open MPI, MPICH. \param weft its version
json describe_machine(const std::string& weft, bool quick);

}  // namespace weft::bench::page
