// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/port.hpp"

#include <cstring>

namespace weft::transports::verbs {

port::verdict port::take_own(const frame_header& h, std::size_t bytes) noexcept {
  if (bytes != sizeof h || h.size != 0 || h.flags != 0) return verdict::nonsense;
  switch (static_cast<own_kind>(h.kind)) {
    case own_kind::credit:
      return verdict::fine;
    case own_kind::disconnect:
      received_disconnect_ = true;
      return verdict::disconnect;
  }
  return verdict::nonsense;
}

port::verdict port::take(std::span<const std::byte> bytes, frame_sink* to) noexcept {
  frame_header h;
  if (received_disconnect_ || bytes.size() < sizeof h) return verdict::nonsense;
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.kind >= first_own_kind) return take_own(h, bytes.size());
  const std::size_t before = sizeof h + extension_size(h);
  if (!to || taken_ - told_ >= window || h.size > max_payload || bytes.size() != before + h.size)
    return verdict::nonsense;
  frame_extension x{};
  std::memcpy(&x, bytes.data() + sizeof h, before - sizeof h);
  ++taken_;
  const bool sensible = to->on_frame(h, extension_of(h, x), bytes.data() + before);
  ++read_;
  return sensible ? verdict::fine : verdict::nonsense;
}

}  // namespace weft::transports::verbs
