// SPDX-License-Identifier: Apache-2.0
#include "connections/link_message.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "runtime/os/printable.hpp"

namespace weft::connections {

using transports::wireup_message;

namespace {

constexpr std::size_t most_shown = 512;

/// Its number is the peer's word, and may be anything.
std::string_view word_for(std::uint32_t why) noexcept {
  switch (static_cast<errc>(why)) {
    case errc::out_of_memory:
      return "out of memory";
    case errc::unreachable:
      return "unreachable";
    case errc::protocol_error:
      return "protocol error";
    case errc::peer_lost:
      return "lost";
    default:
      return "for another reason";
  }
}

}  // namespace

std::uint16_t place_in(std::span<const std::string> list, std::size_t index) noexcept {
  constexpr unsigned bits = 10;
  std::uint32_t mark = 2166136261u;  // FNV-1a
  if (index < list.size())
    for (const char letter : list[index])
      mark = (mark ^ static_cast<unsigned char>(letter)) * 16777619u;
  mark ^= mark >> 20 ^ mark >> bits;
  return static_cast<std::uint16_t>(index << bits | (mark & ((1u << bits) - 1)));
}

wireup_message pack(link_message_kind kind, link_message_header header, wireup_message body) {
  wireup_message m;
  m.kind = static_cast<std::uint8_t>(kind);
  m.bytes.resize(sizeof header + body.bytes.size());
  std::memcpy(m.bytes.data(), &header, sizeof header);
  if (!body.bytes.empty())
    std::memcpy(m.bytes.data() + sizeof header, body.bytes.data(), body.bytes.size());
  m.fds = std::move(body.fds);
  return m;
}

bool unpack(wireup_message& m, link_message_header& header) {
  if (m.bytes.size() < sizeof header) return false;
  std::memcpy(&header, m.bytes.data(), sizeof header);
  m.bytes.erase(m.bytes.begin(), m.bytes.begin() + sizeof header);
  return true;
}

wireup_message pack_reason(errc why, std::string_view detail) {
  detail = detail.substr(0, most_shown);
  const auto number = static_cast<std::uint32_t>(why);
  wireup_message m;
  m.kind = static_cast<std::uint8_t>(link_message_kind::given_up);
  m.bytes.resize(sizeof number + detail.size());
  std::memcpy(m.bytes.data(), &number, sizeof number);
  if (!detail.empty()) std::memcpy(m.bytes.data() + sizeof number, detail.data(), detail.size());
  return m;
}

std::string reason_text(const wireup_message& m) {
  std::uint32_t why = 0;
  if (m.bytes.size() < sizeof why) return "it gave this side up";
  std::memcpy(&why, m.bytes.data(), sizeof why);
  const std::string text = runtime::printable(std::span(m.bytes).subspan(sizeof why), most_shown);
  return fmt::format("the other side gave the connection up: {}{}{}{}", word_for(why),
                     text.empty() ? "" : " (\"", text, text.empty() ? "" : "\")");
}

}  // namespace weft::connections
