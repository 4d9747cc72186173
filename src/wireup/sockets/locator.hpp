// SPDX-License-Identifier: Apache-2.0
// The locator of a context. As text it can be passed on by others, which do not interpret it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::wireup {

/// A numeric address of a host, and a port.
struct tcp_place {
  std::string host;  ///< IPv4 or IPv6, without brackets
  std::uint16_t port = 0;
  friend bool operator==(const tcp_place&, const tcp_place&) = default;
};

/// All ways to reach one context: its Unix socket, for contexts that can share memory with it, and
/// its TCP places, if it listens over TCP, the likeliest first.
struct locator {
  std::string socket_name;
  std::vector<tcp_place> places;
};

inline constexpr std::size_t max_places = 8;
/// Bytes of the longest text of a locator.
inline constexpr std::size_t max_locator = 512;

/// "weft-<32 digits>", then "," and a place for each: "10.0.0.1:4711", "[fe80::1]:4711".
std::string to_text(const locator& l);
/// Nothing, if the text is malformed. Texts from peers are checked with it.
std::optional<locator> parse_locator(std::string_view text);

std::string to_text(const tcp_place& p);
std::optional<tcp_place> parse_place(std::string_view text);

}  // namespace weft::wireup
