// SPDX-License-Identifier: Apache-2.0
#include "picture.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "formats.hpp"

namespace heat {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view what) {
  throw picture_error(fmt::format("{}: {}", file.string(), what));
}

/// The reason that the system gave for the stream operation that just failed.
std::string reason() { return std::generic_category().message(errno ? errno : EIO); }

std::string read_file(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file)) fail(file, "is a directory, not a picture");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(file, "cannot be opened: " + reason());
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) fail(file, "cannot be read: " + reason());
  return bytes;
}

enum class format { pnm, png };

format format_of(const std::filesystem::path& file, std::uint32_t channels) {
  const std::string extension = file.extension().string();
  if (extension == ".png") return format::png;
  if (extension == ".pnm") return format::pnm;
  if (extension == ".pgm") {
    if (channels == 1) return format::pnm;
    fail(file, "a .pgm holds grey only; name it .ppm or .png to keep the colours");
  }
  if (extension == ".ppm") {
    if (channels == 3) return format::pnm;
    fail(file, "a .ppm holds colours; name it .pgm or .png for a grey picture");
  }
  fail(file, "the name must end in .pgm, .ppm, .pnm or .png to tell the format");
}

}  // namespace

picture read_picture(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  try {
    return bytes.starts_with("\x89PNG") ? decode_png(bytes) : decode_pnm(bytes);
  } catch (const picture_error& e) {
    fail(file, e.what());
  }
}

void check_writable(const std::filesystem::path& file, std::uint32_t channels) {
  format_of(file, channels);
}

void write_picture(const std::filesystem::path& file, const picture& p) {
  const format as = format_of(file, p.channels);
  const std::string bytes = as == format::png ? encode_png(p) : encode_pnm(p);
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  if (!out) fail(file, "cannot be created: " + reason());
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) fail(file, "cannot be written: " + reason());
}

}  // namespace heat
