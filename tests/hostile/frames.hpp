// SPDX-License-Identifier: Apache-2.0
// Frames as acts make them: right, or nearly.
#pragma once

#include <vector>

#include "scene.hpp"

namespace hostile {

/// A frame in the making.
struct draft {
  frame_header h;
  frame_extension x{};
};

inline constexpr std::uint8_t flag_extension = weft::transports::has_extension;
inline constexpr std::uint8_t flag_immediate = weft::transports::has_immediate;

/// A frame without an extension, and one with it.
draft plain(frame_kind kind, std::uint64_t tag = 0, std::uint32_t size = 0, unsigned flags = 0);
draft extended(frame_kind kind, std::uint64_t a, std::uint64_t b = 0, std::uint64_t tag = 0,
               std::uint32_t size = 0, unsigned flags = 0);

/// One field is changed, with that chance.
void spoil(draft& f, dice& d, unsigned percent);

/// Sends it, sometimes spoilt, by any way, sometimes not the one before.
bool send(scene& s, guise& g, dice& d, draft f, unsigned spoilt_percent = 3);
/// By that way.
bool send_by(scene& s, guise& g, tie& t, dice& d, draft f, unsigned spoilt_percent = 3);

/// A tag that the victim may wait for, or not.
std::uint64_t any_tag_of(dice& d);
/// Small ones mostly.
std::uint32_t any_size(dice& d, std::uint32_t most);
/// A number that may mean an operation: small, or one of the victim's.
std::uint64_t any_number(guise& g, dice& d);
/// A word: any, with few or many bits.
std::uint64_t any_word(dice& d);

/// Half of them zero.
std::vector<std::byte> some_bytes(dice& d, std::size_t most);

}  // namespace hostile
