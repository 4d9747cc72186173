// SPDX-License-Identifier: Apache-2.0
// Frames that the acts make: correct, or nearly.
#pragma once

#include <vector>

#include "scene.hpp"

namespace hostile {

/// A frame under construction.
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

/// Changes one field, with that probability.
void spoil(draft& f, dice& d, unsigned percent);

/// Sends the frame, sometimes spoilt, over any link, sometimes not the one before.
bool send(scene& s, guise& g, dice& d, draft f, unsigned spoilt_percent = 3);
/// Sends it over that link.
bool send_by(scene& s, guise& g, tie& t, dice& d, draft f, unsigned spoilt_percent = 3);

/// A tag for which the victim may have a receive, or not.
std::uint64_t any_tag_of(dice& d);
/// A size, mostly a small one.
std::uint32_t any_size(dice& d, std::uint32_t most);
/// A number that may name an operation: small, or one of the victim's.
std::uint64_t any_number(guise& g, dice& d);
/// Any word, with few or many bits.
std::uint64_t any_word(dice& d);

/// Half of the bytes are zero.
std::vector<std::byte> some_bytes(dice& d, std::size_t most);

}  // namespace hostile
