// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "page/experiment.hpp"

namespace weft::bench::page {

/// A claim of a description. Throws std::invalid_argument with the place of an error.
claim read_claim(const json& from);

}  // namespace weft::bench::page
