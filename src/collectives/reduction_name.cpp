// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <string_view>

#include <weft/reduction.hpp>

/// The numbers are those of detail::element_name and detail::operation_name.
std::string weft::detail::describe_reduction(std::uint16_t name) {
  constexpr std::array<std::string_view, 10> operations{"an operation of the application",
                                                        "plus",
                                                        "multiplies",
                                                        "minimum",
                                                        "maximum",
                                                        "bit_and",
                                                        "bit_or",
                                                        "bit_xor",
                                                        "logical_and",
                                                        "logical_or"};
  constexpr std::array<std::string_view, 4> elements{"objects", "signed integers",
                                                     "unsigned integers", "floating-point numbers"};
  const std::size_t operation = name & 0xff, size = name >> 8 & 63;
  return fmt::format("{} of {} of {}{} bytes",
                     operation < operations.size() ? operations[operation] : "an operation",
                     elements[name >> 14], size == 63 ? "at least " : "", size);
}
