// SPDX-License-Identifier: Apache-2.0
#include "wireup/sockets/address.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <weft/error.hpp>

#include "net/address.hpp"
#include "runtime/os/errno_hint.hpp"

namespace weft::wireup {

namespace {

constexpr std::string_view unix_scheme = "unix://";
constexpr std::string_view any_scheme = "any://";
constexpr std::string_view tcp_scheme = "tcp://";
constexpr std::size_t max_door_name = 80;

[[noreturn]] void bad_address(const std::string& text, std::string_view what) {
  throw error(errc::invalid_argument,
              fmt::format("the address '{}' {}; write unix://name (this host), any://host:port or "
                          "tcp://host:port (any://:port for this host only, port 0 for a free one)",
                          text, what));
}

using address_list = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

address_list addresses_of(const listen_address& address) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = fmt::format("{}", address.port);
  const char* host = address.host.empty() ? "127.0.0.1" : address.host.c_str();
  if (const int fault = ::getaddrinfo(host, port.c_str(), &wanted, &found); fault != 0)
    throw error(errc::invalid_argument,
                fmt::format("the host '{}' of {} is not known: {}; use a host name or address of "
                            "this machine, or none for loopback",
                            address.host, to_text(address), ::gai_strerror(fault)));
  return {found, &::freeaddrinfo};
}

}  // namespace

listen_address parse_address(const std::string& text) {
  listen_address result;
  std::string_view rest = text;
  if (rest.find('\0') != rest.npos) bad_address(text, "holds a zero byte");
  if (rest.starts_with(unix_scheme)) {
    rest.remove_prefix(unix_scheme.size());
    if (rest.empty()) bad_address(text, "has no name");
    if (rest.size() > max_door_name) bad_address(text, "has a name of more than 80 bytes");
    result.name = rest;
    return result;
  }
  static_assert(any_scheme.size() == tcp_scheme.size());
  if (rest.starts_with(any_scheme))
    result.how = listen_address::scheme::any;
  else if (rest.starts_with(tcp_scheme))
    result.how = listen_address::scheme::tcp;
  else
    bad_address(text, "has an unknown scheme");
  rest.remove_prefix(any_scheme.size());
  const std::size_t colon = rest.rfind(':');
  if (colon == rest.npos) bad_address(text, "has no port");
  std::string_view host = rest.substr(0, colon);
  const std::string_view port = rest.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    bad_address(text, "has an IPv6 address without brackets");
  }
  const auto [end, fault] = std::from_chars(port.data(), port.data() + port.size(), result.port);
  if (fault != std::errc{} || end != port.data() + port.size())
    bad_address(text, "has a port that is no number from 0 to 65535");
  result.host = host;
  return result;
}

std::string to_text(const listen_address& address) {
  if (address.is_unix()) return fmt::format("{}{}", unix_scheme, address.name);
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}{}:{}",
                     address.how == listen_address::scheme::any ? any_scheme : tcp_scheme,
                     v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

std::string listener_socket_name(const std::string& name) {
  return fmt::format("weft-door:{}:{}", ::geteuid(), name);
}

listening listen_at_name(const listen_address& address, const socket_names& names) {
  const std::string name = listener_socket_name(address.name);
  listening socket = names.listen(name);
  if (socket.fd) return socket;
  if (socket.error == EADDRINUSE) {
    const std::string holder = names.who_listens(name);
    throw error(errc::system, fmt::format("the address {} is taken{}{}; choose another name",
                                          to_text(address), holder.empty() ? "" : " by ", holder));
  }
  const bool no_name = socket.error == EINVAL || socket.error == ENAMETOOLONG;
  throw error(
      errc::system,
      fmt::format("cannot listen at {}: {}{}", to_text(address),
                  runtime::describe_errno(socket.error),
                  no_name ? "; with WEFT_SOCKET_DIR a name is short and has no slash" : ""));
}

unique_fd listen_at_port(listen_address& address) {
  const address_list list = addresses_of(address);
  int error_number = EADDRNOTAVAIL;
  for (const addrinfo* a = list.get(); a != nullptr; a = a->ai_next) {
    unique_fd fd{::socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    const int on = 1;
    if (fd && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        ::bind(fd.get(), a->ai_addr, a->ai_addrlen) == 0 && ::listen(fd.get(), SOMAXCONN) == 0) {
      const auto bound = net::address::of_socket(fd.get(), false);
      address.port = bound ? bound->port() : std::uint16_t{0};
      return fd;
    }
    error_number = errno;
  }
  const bool taken = error_number == EADDRINUSE;
  throw error(errc::system, fmt::format("cannot listen at {}: {}{}", to_text(address),
                                        runtime::describe_errno(error_number),
                                        taken ? "; choose another port, or 0 for a free one" : ""));
}

}  // namespace weft::wireup
