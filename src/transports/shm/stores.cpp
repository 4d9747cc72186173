// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/stores.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weft::transports::shm {

#ifdef __SSE2__

namespace {

constexpr std::size_t line = 64, word = sizeof(__m128i);

void stream(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  // Whole lines only: the processor writes a part of a line by reading the rest of it first.
  const std::size_t before =
      std::min<std::size_t>(n, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
  std::memcpy(to, from, before);
  std::size_t at = before;
  for (; n - at >= line; at += line)
    for (std::size_t part = at; part != at + line; part += word)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + part)));
  std::memcpy(to + at, from + at, n - at);
}

}  // namespace

void stream_out(std::byte* to, gather& from, std::size_t n) noexcept {
  while (n != 0) {
    const const_buffer run = from.run(n);
    if (run.empty()) break;
    stream(to, run.data(), run.size());
    to += run.size();
    n -= run.size();
    from.skip(run.size());
  }
  _mm_sfence();  // a release store does not wait for streaming stores
}

void stream_out(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  stream(to, from, n);
  _mm_sfence();
}

#else

void stream_out(std::byte* to, gather& from, std::size_t n) noexcept { copy_out(to, from, n); }
void stream_out(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  std::memcpy(to, from, n);
}

#endif

}  // namespace weft::transports::shm
