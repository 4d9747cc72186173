// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>

#include "formats.hpp"
#include "pictures.hpp"
#include "support/catch.hpp"

using namespace heat;
using weft::tests::contains;
using namespace std::string_literals;

namespace {

std::string png_problem(const std::string& file) {
  try {
    decode_png(file);
  } catch (const picture_error& e) {
    return e.what();
  }
  return "none";
}

std::string big_endian(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8),
          static_cast<char>(v)};
}

std::string chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

std::string deflated(const std::string& data) {
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
           static_cast<uLong>(data.size()));
  out.resize(size);
  return out;
}

/// A whole PNG of its header's fields, further chunks and its filtered rows.
std::string png(std::uint32_t width, std::uint32_t height, char depth, char colour,
                const std::string& further, const std::string& rows) {
  return "\x89PNG\r\n\x1a\n"s +
         chunk("IHDR", big_endian(width) + big_endian(height) + depth + colour + "\0\0\0"s) +
         further + chunk("IDAT", deflated(rows)) + chunk("IEND", "");
}

}  // namespace

TEST_CASE("PNG pictures come back as they were written") {
  for (const std::uint32_t channels : {1u, 3u})
    for (const std::uint32_t maximum : {255u, 65535u}) {
      CAPTURE(channels, maximum);
      const picture p = tests::pattern(13, 7, channels, maximum);
      CHECK(decode_png(encode_png(p)) == p);
    }
}

TEST_CASE("a maximum that PNG does not know is scaled to white") {
  CHECK(decode_png(encode_png({3, 1, 1, 100, {0, 50, 100}})) ==
        picture{3, 1, 1, 255, {0, 128, 255}});
  CHECK(decode_png(encode_png({2, 1, 1, 1000, {0, 1000}})) == picture{2, 1, 1, 65535, {0, 65535}});
}

TEST_CASE("PNG of other kinds becomes grey or colour") {
  // One bit of grey: 1 0 1.
  CHECK(decode_png(png(3, 1, 1, 0, "", "\0\xa0"s)) == picture{3, 1, 1, 255, {255, 0, 255}});
  // A palette of red and blue, two pixels.
  CHECK(decode_png(png(2, 1, 8, 3, chunk("PLTE", "\xff\0\0\0\0\xff"s), "\0\1\0"s)) ==
        picture{2, 1, 3, 255, {0, 0, 255, 255, 0, 0}});
  // Grey and colour with transparency.
  CHECK(decode_png(png(1, 1, 8, 4, "", "\0\x21\x80"s)) == picture{1, 1, 1, 255, {0x21}});
  CHECK(decode_png(png(1, 1, 8, 6, "", "\0\1\2\3\x80"s)) == picture{1, 1, 3, 255, {1, 2, 3}});
}

TEST_CASE("what is wrong in a bad PNG") {
  const std::string good = encode_png(tests::pattern(13, 7, 3, 255));
  CHECK_THAT(png_problem(good.substr(0, 20)), contains("byte 16") && contains("truncated"));
  std::string flipped = good;
  flipped[good.find("IDAT") + 8] ^= 1;
  CHECK(png_problem(flipped) != "none");
  CHECK_THAT(png_problem(png(0, 1, 8, 0, "", "")), contains("IHDR"));
  CHECK_THAT(png_problem(png(2, 1, 8, 3, "", "\0\1\0"s)), contains("PLTE"));
  CHECK_THAT(png_problem(png(4, 4, 8, 0, "", "\0\1\2\3\4"s)), contains("byte"));
}

TEST_CASE("a PNG header that promises more than the file holds is refused before memory is taken") {
  CHECK_THAT(png_problem(png(16000, 16000, 8, 0, "", "\0\1"s)), contains("do not fit into"));
  CHECK_THAT(png_problem(png(100000, 100000, 8, 2, "", "\0\1"s)),
             contains("more than this program"));
}

TEST_CASE("every beginning of a PNG is refused, and none of its changed bytes does harm") {
  const std::string file = encode_png(tests::pattern(5, 4, 1, 255));
  for (std::size_t n = 0; n < file.size(); ++n) CHECK(png_problem(file.substr(0, n)) != "none");
  for (std::size_t i = 0; i < file.size(); ++i)
    for (const char c : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string changed = file;
      changed[i] = c;
      try {
        const picture p = decode_png(changed);
        CHECK(p.samples.size() == std::size_t{p.width} * p.height * p.channels);
      } catch (const picture_error&) {
        SUCCEED();
      }
    }
}
