// SPDX-License-Identifier: Apache-2.0
// Copies between lists of buffers and contiguous memory.
#pragma once

#include <cstring>
#include <numeric>

#include "transports/transport.hpp"

namespace weft::transports::verbs::ladder {

template <class Buffer>
std::size_t bytes_of(std::span<const Buffer> list) noexcept {
  return std::accumulate(list.begin(), list.end(), std::size_t{0},
                         [](std::size_t n, const Buffer& b) { return n + b.size(); });
}

/// Copies the next `size` bytes of the list, which has as many.
inline void copy_out(gather& from, std::byte* to, std::size_t size) noexcept {
  while (size != 0) {
    const const_buffer run = from.run(size);
    std::memcpy(to, run.data(), run.size());
    from.skip(run.size());
    to += run.size();
    size -= run.size();
  }
}

/// Copies in the opposite direction.
inline void copy_in(scatter& to, const std::byte* from, std::size_t size) noexcept {
  while (size != 0) {
    const mutable_buffer run = to.run(size);
    std::memcpy(run.data(), from, run.size());
    to.skip(run.size());
    from += run.size();
    size -= run.size();
  }
}

}  // namespace weft::transports::verbs::ladder
