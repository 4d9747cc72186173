// SPDX-License-Identifier: Apache-2.0
#include "ear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace hostile {

using weft::transports::extension_size;

void ear::keep(const heard& h) {
  heard_.push_back(h);
  if (heard_.size() > most_kept) heard_.pop_front();
  told_(h);
}

bool ear::on_frame(const frame_header& h, const frame_extension* x,
                   const std::byte* payload) noexcept {
  heard came{h, x ? *x : frame_extension{}};
  if (payload && h.size != 0)
    std::memcpy(came.beginning.data(), payload,
                std::min<std::size_t>(h.size, came.beginning.size()));
  keep(came);
  // On a multi-rail link the frame inside counts, too.
  if (h.kind == static_cast<std::uint8_t>(frame_kind::ordered) && payload &&
      h.size >= sizeof(frame_header)) {
    heard inside{};
    std::memcpy(&inside.header, payload, sizeof inside.header);
    const std::size_t more = extension_size(inside.header);
    if (h.size >= sizeof inside.header + more) {
      std::memcpy(&inside.extension, payload + sizeof inside.header, more);
      const std::byte* const rest = payload + sizeof inside.header + more;
      std::memcpy(
          inside.beginning.data(), rest,
          std::min<std::size_t>(h.size - sizeof inside.header - more, inside.beginning.size()));
    }
    keep(inside);
  }
  return true;
}

std::string to_text(const frame_header& h, const frame_extension* x) {
  static constexpr std::array names{
      "kind 0", "eager",     "more",   "rts",    "cts",       "data",     "fin_ack", "matched",
      "cancel", "cancelled", "credit", "bye",    "stop_data", "ordered",  "arrived", "fin",
      "signal", "put",       "get",    "update", "got",       "accessed", "granted", "released"};
  std::string text =
      fmt::format("{} tag {:x} size {} flags {:02x} credit {}",
                  h.kind < names.size() ? names[h.kind] : fmt::format("kind {}", h.kind), h.tag,
                  h.size, h.flags, h.credit);
  if (x) text += fmt::format(" a {:x} b {:x} third {:x}", x->a, x->b, x->immediate);
  return text;
}

}  // namespace hostile
