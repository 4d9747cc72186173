// SPDX-License-Identifier: Apache-2.0
// The descriptors 0 to 2, which belong to the program.
#pragma once

namespace weft::runtime {

/// A program may have been started with standard input, output or error closed. What is opened then
/// gets these numbers, and what the program prints would go into a socket. This opens `path` for
/// each of them that is closed, so that neither weft nor a library that it uses gets the number.
/// Costs two system calls if none is closed.
/// \param flags of open(2)
void fill_standard_descriptors(const char* path, int flags) noexcept;

/// The same for a program that has not asked for it: it finds them as before. Reading and writing
/// end with EBADF, and a program that it executes finds them closed.
void keep_standard_numbers() noexcept;

}  // namespace weft::runtime
