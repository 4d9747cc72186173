// SPDX-License-Identifier: Apache-2.0
// The name by which libFuzzer calls a target.
#include "target.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::fuzz::run(weft::fuzz::input(std::as_bytes(std::span(data, size))));
  return 0;
}
