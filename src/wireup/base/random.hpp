// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace weft::wireup {

/// Fresh bytes from the kernel, at most 256. \throws weft::error (system)
void fill_random(std::span<std::byte> into);

}  // namespace weft::wireup
