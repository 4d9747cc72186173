// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace weft::vipl {

/// Whether all of that memory is mapped, to read and to write: so no use of it will end the
/// process. True, too, where the kernel does not tell (no /proc).
bool is_writable(std::span<const std::byte> memory) noexcept;

}  // namespace weft::vipl
