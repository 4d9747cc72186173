// SPDX-License-Identifier: Apache-2.0
// The formats of netpbm: P2 and P3 in decimal text, P5 and P6 in bytes (two a sample, the high one
// first, when the maximum is above 255).
#include <fmt/format.h>

#include "formats.hpp"

namespace heat {
namespace {

bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool digit(char c) { return c >= '0' && c <= '9'; }

/// Reads the bytes, and knows the position of an error.
class reader {
 public:
  reader(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  [[noreturn]] void fail(std::string_view what) const { fail_at(at_, what); }
  [[noreturn]] static void fail_at(std::size_t at, std::string_view what) {
    throw picture_error(fmt::format("byte {}: {}", at, what));
  }

  std::size_t left() const { return bytes_.size() - at_; }

  /// Call only when left() > 0.
  std::uint32_t byte() { return static_cast<std::uint8_t>(bytes_[at_++]); }

  void one_blank() {
    if (left() == 0 || !blank(bytes_[at_])) fail("one blank must end the header");
    ++at_;
  }

  /// A decimal number after any blanks and comments.
  std::uint32_t number(std::string_view name, std::uint32_t least, std::uint32_t most) {
    skip_blanks();
    if (left() == 0) fail(fmt::format("truncated: the file ends before {}", name));
    if (!digit(bytes_[at_])) fail(fmt::format("{} must be a number", name));
    const std::size_t start = at_;
    std::uint64_t value = 0;
    for (; left() && digit(bytes_[at_]); ++at_)
      if (value <= most) value = 10 * value + static_cast<std::uint64_t>(bytes_[at_] - '0');
    if (value < least || value > most)
      fail_at(start,
              fmt::format("{} is {}; it must be from {} to {}", name,
                          bytes_.substr(start, std::min(at_ - start, longest_quote)), least, most));
    return static_cast<std::uint32_t>(value);
  }

 private:
  static constexpr std::size_t longest_quote = 20;

  void skip_blanks() {
    for (bool comment = false; left(); ++at_) {
      const char c = bytes_[at_];
      if (c == '#') comment = true;
      if (c == '\n') comment = false;
      if (!comment && !blank(c)) return;
    }
  }

  std::string_view bytes_;
  std::size_t at_;
};

/// Refuses a size that the rest of the file cannot hold, so that no header causes a useless
/// allocation.
std::size_t checked_count(const reader& in, const picture& p, std::size_t bytes_per_sample) {
  const std::uint64_t pixels = std::uint64_t{p.width} * p.height;
  if (pixels > most_samples / p.channels)
    in.fail(fmt::format("{} x {} pixels are more than this program takes", p.width, p.height));
  const std::uint64_t count = pixels * p.channels;
  if (in.left() < count * bytes_per_sample)
    in.fail(fmt::format("truncated: {} x {} pixels take {} bytes, the file has {} more", p.width,
                        p.height, count * bytes_per_sample, in.left()));
  return static_cast<std::size_t>(count);
}

}  // namespace

picture decode_pnm(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != 'P' ||
      std::string_view("2356").find(bytes[1]) == std::string_view::npos)
    reader::fail_at(0, "neither PGM nor PPM (P2, P3, P5, P6) nor PNG");
  const bool text = bytes[1] < '5';

  reader in(bytes, 2);
  picture p;
  p.channels = bytes[1] == '3' || bytes[1] == '6' ? 3 : 1;
  p.width = in.number("the width", 1, most_samples);
  p.height = in.number("the height", 1, most_samples);
  p.maximum = in.number("the maximum value", 1, 65535);
  if (!text) in.one_blank();

  // Text has at least one digit for each sample; the loop finds any further missing bytes.
  const std::size_t width = !text && p.maximum > 255 ? 2 : 1;
  p.samples.resize(checked_count(in, p, width));
  for (std::uint16_t& sample : p.samples) {
    std::uint32_t value = 0;
    if (text) {
      value = in.number("a sample", 0, p.maximum);
    } else {
      value = in.byte();
      if (width == 2) value = value << 8 | in.byte();
      if (value > p.maximum)
        in.fail(fmt::format("a sample is {}, above the maximum of {}", value, p.maximum));
    }
    sample = static_cast<std::uint16_t>(value);
  }
  return p;
}

std::string encode_pnm(const picture& p) {
  std::string out =
      fmt::format("P{}\n{} {}\n{}\n", p.channels == 1 ? 5 : 6, p.width, p.height, p.maximum);
  const bool wide = p.maximum > 255;
  out.reserve(out.size() + p.samples.size() * (wide ? 2 : 1));
  for (const std::uint16_t sample : p.samples) {
    if (wide) out.push_back(static_cast<char>(sample >> 8));
    out.push_back(static_cast<char>(sample & 0xff));
  }
  return out;
}

}  // namespace heat
