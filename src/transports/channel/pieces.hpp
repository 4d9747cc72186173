// SPDX-License-Identifier: Apache-2.0
// Copies between lists of buffers and contiguous memory.
#pragma once

#include <cstring>
#include <numeric>

#include <weft/transport/transport.hpp>

namespace weft::transports::channel {

template <class Buffer>
std::size_t bytes_of(std::span<const Buffer> list) noexcept {
  return std::accumulate(list.begin(), list.end(), std::size_t{0},
                         [](std::size_t n, const Buffer& b) { return n + b.size(); });
}

}  // namespace weft::transports::channel
