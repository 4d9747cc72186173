// SPDX-License-Identifier: Apache-2.0
// A picture in memory, and its file formats: PGM, PPM (P2 P3 P5 P6) and PNG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace heat {

/// Rows from top to bottom, pixels from left to right, the channels of a pixel side by side.
struct picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 1;   ///< 1 grey, 3 red green blue
  std::uint32_t maximum = 255;  ///< the sample of white, at most 65535
  std::vector<std::uint16_t> samples = {};

  friend bool operator==(const picture&, const picture&) = default;
};

/// A file that is no picture, or cannot be read or written. `what()` names the file, the place in
/// it and the error.
class picture_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The file's contents, not its name, decide the format.
picture read_picture(const std::filesystem::path& file);

/// The name decides the format: .pgm (grey), .ppm (colour), .pnm (either) or .png.
void write_picture(const std::filesystem::path& file, const picture& p);

/// Throws unless `write_picture` knows the format of that name and the format can hold so many
/// channels. Touches no file: for a check before a long computation.
void check_writable(const std::filesystem::path& file, std::uint32_t channels);

}  // namespace heat
