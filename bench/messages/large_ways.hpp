// SPDX-License-Identifier: Apache-2.0
// The ways in which `weft-bench large` moves the same bytes from rank 0 to rank 1, or back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>
#include <weft/weft.hpp>

namespace weft::bench::large_command {

using bytes = std::vector<std::byte>;

enum way : std::size_t {
  message,
  value_kept,
  value_made,
  value_of_parts,
  call_bytes,
  call_to_span,
  call_to_vector,
  call_of_vector,
  call_to_kept,
  result_made,
  result_of_parts,
  way_count
};
constexpr std::array<const char*, way_count> names{"message",
                                                   "value, into a vector",
                                                   "value, a new vector",
                                                   "value, a number and a vector",
                                                   "call with bytes",
                                                   "call, (number, span)",
                                                   "call, span to a vector",
                                                   "call, (number, vector)",
                                                   "call, (number, vector that is kept)",
                                                   "result, a vector",
                                                   "result, a number and a vector"};

/// What the handlers refer to.
struct shared {
  std::size_t size = 0;
  bytes* kept = nullptr;  // of rank 1: where the handler of bytes receives, or what results are
};

/// One transfer, and its answer, at rank 0.
/// \param out the bytes, for ways that send them
/// \param n   a number that some ways send as well
/// \throws std::runtime_error when another number of bytes came
task<void> ask_once(const endpoint& peer, way by, const bytes& out, std::size_t size,
                    std::uint64_t n);

/// The other side of one that is no call, at rank 1. \param in where ways that keep memory receive
task<void> take_once(const endpoint& peer, way by, bytes& in, std::size_t size);

/// The handlers of rank 1, which answer with the number of bytes, or the bytes themselves. `of`
/// outlives them.
std::vector<handler> handlers(context& ctx, shared& of);

}  // namespace weft::bench::large_command
