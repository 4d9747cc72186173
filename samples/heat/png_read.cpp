// SPDX-License-Identifier: Apache-2.0
// PNG through libpng, which reports errors by longjmp: each function here that calls setjmp keeps
// its C++ objects in its caller, so that longjmp never skips a destructor.
#include <fmt/format.h>
#include <png.h>

#include <cstring>
#include <new>

#include "formats.hpp"

namespace heat {
namespace {

struct source {
  std::string_view bytes;
  std::size_t at = 0;
  char problem[128] = "";
};

/// Keeps libpng's message, and jumps back to the last setjmp.
[[noreturn]] void on_read_error(png_structp png, png_const_charp text) {
  std::strncpy(static_cast<source*>(png_get_error_ptr(png))->problem, text,
               sizeof(source::problem) - 1);
  png_longjmp(png, 1);
}

void on_read_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep into, std::size_t n) {
  source& in = *static_cast<source*>(png_get_io_ptr(png));
  if (in.bytes.size() - in.at < n) png_error(png, "truncated");
  std::memcpy(into, in.bytes.data() + in.at, n);
  in.at += n;
}

/// libpng's two structs, freed by the destructor.
struct decoder {
  explicit decoder(source& in)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &in, on_read_error, on_read_warning)),
        info(png ? png_create_info_struct(png) : nullptr) {
    if (!png) throw std::bad_alloc();
    png_set_read_fn(png, &in, on_read);
  }
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;
  ~decoder() { png_destroy_read_struct(&png, &info, nullptr); }

  png_structp png;
  png_infop info;
  std::uint64_t packed_row = 0;  ///< bytes of a row in the file
};

/// Reads what precedes the pixels, and asks for 8 or 16 bits of grey or colour, not transparent.
bool read_header(decoder& d, picture& p) {
  if (setjmp(png_jmpbuf(d.png))) return false;
  png_read_info(d.png, d.info);
  d.packed_row = png_get_rowbytes(d.png, d.info);
  png_set_expand(d.png);
  png_set_strip_alpha(d.png);
  png_set_interlace_handling(d.png);
  png_read_update_info(d.png, d.info);
  p.width = png_get_image_width(d.png, d.info);
  p.height = png_get_image_height(d.png, d.info);
  p.channels = png_get_channels(d.png, d.info);
  p.maximum = png_get_bit_depth(d.png, d.info) == 16 ? 65535 : 255;
  return true;
}

bool read_rows(decoder& d, png_bytep* rows) {
  if (setjmp(png_jmpbuf(d.png))) return false;
  png_read_image(d.png, rows);
  png_read_end(d.png, nullptr);
  return true;
}

}  // namespace

picture decode_png(std::string_view bytes) {
  source in{bytes};
  const auto fail = [&](std::string_view what) {
    throw picture_error(fmt::format("byte {}: {}", in.at, what));
  };
  decoder d(in);
  picture p;
  if (!read_header(d, p)) fail(in.problem);

  const std::uint64_t pixels = std::uint64_t{p.width} * p.height;
  if (pixels > most_samples / p.channels)
    fail(fmt::format("{} x {} pixels are more than this program takes", p.width, p.height));
  constexpr std::uint64_t best_compression = 1032;  // of deflate: 258 bytes from two bits
  if (d.packed_row * p.height / best_compression > bytes.size())
    fail(fmt::format("truncated: {} x {} pixels do not fit into {} bytes", p.width, p.height,
                     bytes.size()));

  const std::size_t width = p.maximum > 255 ? 2 : 1;
  const std::size_t row = std::size_t{p.width} * p.channels * width;
  std::vector<png_byte> raw(row * p.height);
  std::vector<png_bytep> rows(p.height);
  for (std::size_t y = 0; y < p.height; ++y) rows[y] = raw.data() + y * row;
  if (!read_rows(d, rows.data())) fail(in.problem);

  p.samples.resize(raw.size() / width);
  for (std::size_t i = 0; i < p.samples.size(); ++i)
    p.samples[i] =
        width == 1 ? raw[i] : static_cast<std::uint16_t>(raw[2 * i] << 8 | raw[2 * i + 1]);
  return p;
}

}  // namespace heat
