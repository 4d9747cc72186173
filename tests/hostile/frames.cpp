// SPDX-License-Identifier: Apache-2.0
#include "frames.hpp"

#include <algorithm>

namespace hostile {

draft plain(frame_kind kind, std::uint64_t tag, std::uint32_t size, unsigned flags) {
  return {{tag, size, static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(flags), 0}};
}

draft extended(frame_kind kind, std::uint64_t a, std::uint64_t b, std::uint64_t tag,
               std::uint32_t size, unsigned flags) {
  return {plain(kind, tag, size, flags | flag_extension).h, {a, b, 0}};
}

std::uint64_t any_word(dice& d) {
  const std::uint64_t word = d.throw_one();
  switch (d.below(4)) {
    case 0:
      return word;
    case 1:
      return word >> d.below(64);
    case 2:
      return d.below(4);
    default:
      return ~(word >> d.below(64));
  }
}

void spoil(draft& f, dice& d, unsigned percent) {
  if (!d.percent(percent)) return;
  switch (d.below(8)) {
    case 0:
      f.h.kind = static_cast<std::uint8_t>(d.below(26));
      break;
    case 1:
      f.h.flags ^= static_cast<std::uint8_t>(1u << d.below(8));
      break;
    case 2:
      f.h.size = static_cast<std::uint32_t>(any_word(d));
      break;
    case 3:
      f.x.a = any_word(d);
      break;
    case 4:
      f.x.b = any_word(d);
      break;
    case 5:
      f.x.immediate = any_word(d);
      break;
    case 6:
      f.x.a += d.percent(50) ? 1 : ~std::uint64_t{0};
      break;
    default:
      f.h.credit = static_cast<std::uint16_t>(any_word(d));
  }
}

bool send_by(scene& s, guise& g, tie& t, dice& d, draft f, unsigned spoilt_percent) {
  constexpr std::size_t most_kept = 32;
  spoil(f, d, spoilt_percent);
  s.sent.emplace_back(f.h, f.x);
  if (s.sent.size() > most_kept) s.sent.pop_front();
  return g.send(t, f.h, f.x);
}

bool send(scene& s, guise& g, dice& d, draft f, unsigned spoilt_percent) {
  tie* const t = scene::some_way(g, d);
  return t && send_by(s, g, *t, d, f, spoilt_percent);
}

/// Never a tag of honest peers.
std::uint64_t any_tag_of(dice& d) {
  const std::uint64_t tag =
      d.percent(85) ? d.below(12) : any_word(d) & ~tag_honest & ~(std::uint64_t{0xff} << 56);
  return d.percent(30) ? tag | tag_left_lying : tag;
}

std::uint32_t any_size(dice& d, std::uint32_t most) {
  const std::uint64_t size = d.percent(70) ? d.below(300) : d.below(std::uint64_t{most} + 1);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, most));
}

std::uint64_t any_number(guise& g, dice& d) {
  if (d.percent(40) && !g.memory.empty()) {
    const heard& h = d.one_of(g.memory);
    const std::uint64_t number = d.percent(50) ? h.extension.a : h.extension.b;
    return number > 0xffff ? number >> 48 : number;
  }
  return d.percent(80) ? d.between(1, 6) : d.below(0x10000);
}

std::vector<std::byte> some_bytes(dice& d, std::size_t most) {
  std::vector<std::byte> bytes(d.below(most + 1));
  for (std::byte& b : bytes) b = static_cast<std::byte>(d.percent(50) ? 0 : d.throw_one());
  return bytes;
}

}  // namespace hostile
