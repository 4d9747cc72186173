// SPDX-License-Identifier: Apache-2.0
// For parts of which both ends have handlers and call each other.
#pragma once

#include <cstdint>

#include <weft/weft.hpp>

#include "conversation.hpp"

namespace conformance {

inline constexpr weft::tag ready{1};
inline constexpr weft::tag over{2};

/// Both ends have come as far. Each has a tag of its own: they may be one endpoint.
template <bool Left>
weft::task<void> meet(weft::endpoint other, weft::tag t) {
  weft::scope both;
  both.start(other.send(weft::const_buffer{}, weft::tag{t.value + (Left ? 10 : 20)}));
  both.start(other.recv(weft::mutable_buffer{}, weft::tag{t.value + (Left ? 20 : 10)}));
  co_await both.join();
}

/// The first of an end's numbers: in one context both ends have their handlers.
constexpr std::uint32_t numbers_of(bool left) { return left ? 100 : 200; }

}  // namespace conformance
