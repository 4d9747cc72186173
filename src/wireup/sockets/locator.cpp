// SPDX-License-Identifier: Apache-2.0
#include "wireup/sockets/locator.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>

#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

std::string to_text(const tcp_place& p) {
  const bool v6 = p.host.find(':') != p.host.npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", p.host, v6 ? "]" : "", p.port);
}

std::optional<tcp_place> parse_place(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool v6 = host.starts_with('[') && host.ends_with(']');
  if (v6) host = host.substr(1, host.size() - 2);
  tcp_place p{std::string(host), 0};
  in6_addr address;  // large enough for both kinds
  if (::inet_pton(v6 ? AF_INET6 : AF_INET, p.host.c_str(), &address) != 1) return std::nullopt;
  const char* last = text.data() + text.size();
  const auto [end, fault] = std::from_chars(text.data() + colon + 1, last, p.port);
  if (fault != std::errc{} || end != last || p.port == 0) return std::nullopt;
  return p;
}

std::string to_text(const locator& l) {
  std::string text = l.socket_name;
  for (const tcp_place& p : l.places) text += "," + to_text(p);
  return text;
}

std::optional<locator> parse_locator(std::string_view text) {
  if (text.size() > max_locator) return std::nullopt;
  std::size_t comma = text.find(',');
  locator l;
  l.socket_name = text.substr(0, comma);
  if (!is_socket_name(l.socket_name)) return std::nullopt;
  while (comma != text.npos) {
    const std::size_t begin = comma + 1;
    comma = text.find(',', begin);
    const std::size_t length = comma == text.npos ? text.npos : comma - begin;
    const auto place = parse_place(text.substr(begin, length));
    if (!place || l.places.size() == max_places) return std::nullopt;
    l.places.push_back(*place);
  }
  return l;
}

}  // namespace weft::wireup
