// SPDX-License-Identifier: Apache-2.0
// PNG through libpng; png_read.cpp explains errors and destructors.
#include <png.h>

#include <cstring>
#include <new>

#include "formats.hpp"

namespace heat {
namespace {

struct sink {
  std::string bytes = {};
  char problem[128] = "";
};

[[noreturn]] void on_write_error(png_structp png, png_const_charp text) {
  std::strncpy(static_cast<sink*>(png_get_error_ptr(png))->problem, text,
               sizeof(sink::problem) - 1);
  png_longjmp(png, 1);
}

void on_write_warning(png_structp, png_const_charp) {}

void on_write(png_structp png, png_bytep from, std::size_t n) {
  try {
    static_cast<sink*>(png_get_io_ptr(png))->bytes.append(reinterpret_cast<const char*>(from), n);
    return;
  } catch (const std::bad_alloc&) {
  }
  png_error(png, "out of memory");  // jumps, so not from inside the handler
}

void on_flush(png_structp) {}

struct encoder {
  explicit encoder(sink& out)
      : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, &out, on_write_error, on_write_warning)),
        info(png ? png_create_info_struct(png) : nullptr) {
    if (!png) throw std::bad_alloc();
    png_set_write_fn(png, &out, on_write, on_flush);
  }
  encoder(const encoder&) = delete;
  encoder& operator=(const encoder&) = delete;
  ~encoder() { png_destroy_write_struct(&png, &info); }

  png_structp png;
  png_infop info;
};

bool write_all(encoder& e, const picture& p, int depth, png_bytep* rows) {
  if (setjmp(png_jmpbuf(e.png))) return false;
  png_set_IHDR(e.png, e.info, p.width, p.height, depth,
               p.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(e.png, e.info);
  png_write_image(e.png, rows);
  png_write_end(e.png, nullptr);
  return true;
}

}  // namespace

std::string encode_png(const picture& p) {
  // A PNG's white is all ones; a PGM's may be any number.
  const std::uint32_t white = p.maximum > 255 ? 65535 : 255;
  std::vector<png_byte> raw;
  raw.reserve(p.samples.size() * (white > 255 ? 2 : 1));
  for (const std::uint16_t sample : p.samples) {
    const std::uint32_t value = (sample * white + p.maximum / 2) / p.maximum;
    if (white > 255) raw.push_back(static_cast<png_byte>(value >> 8));
    raw.push_back(static_cast<png_byte>(value & 0xff));
  }
  std::vector<png_bytep> rows(p.height);
  for (std::size_t y = 0; y < p.height; ++y) rows[y] = raw.data() + y * (raw.size() / p.height);

  sink out;
  encoder e(out);
  if (!write_all(e, p, white > 255 ? 16 : 8, rows.data())) throw picture_error(out.problem);
  return std::move(out.bytes);
}

}  // namespace heat
