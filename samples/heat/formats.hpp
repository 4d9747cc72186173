// SPDX-License-Identifier: Apache-2.0
// Conversions between the bytes of a file and a picture. Only picture.cpp and the tests use them.
#pragma once

#include <string>
#include <string_view>

#include "picture.hpp"

namespace heat {

/// The most samples of a picture (half a gigabyte of memory); a header with more is refused.
inline constexpr std::uint64_t most_samples = std::uint64_t{1} << 28;

/// These throw picture_error without the name of the file. They allocate at most a small multiple
/// of the size that the bytes can hold.
picture decode_pnm(std::string_view bytes);
picture decode_png(std::string_view bytes);

std::string encode_pnm(const picture& p);  ///< P5 for grey, P6 for colour
std::string encode_png(const picture& p);  ///< 8 bits a sample if they suffice, otherwise 16

}  // namespace heat
