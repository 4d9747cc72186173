// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/factory.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "runtime/os/errno_hint.hpp"
#include "transports/tcp/transport.hpp"

namespace weft::transports::tcp {

std::string probe() {
  for (const int family : {AF_INET, AF_INET6})
    if (runtime::unique_fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0))) return {};
  return fmt::format("no TCP socket can be had: {}", runtime::describe_errno(errno));
}

std::pair<std::string, std::string> explain_rest(std::size_t size) {
  if (size < shortest_put)
    return {fmt::format("by TCP, in frames of {} bytes", max_payload),
            "sent from where it is, and read to where the receive wants it"};
  return {fmt::format("by TCP, in pieces of up to {} bytes", max_write),
          fmt::format(
              "it is {} bytes or more; over one connection on one host, from {} bytes on, it is "
              "lent to the receiver, which copies it, and only {} bytes go with the request",
              shortest_put, shortest_lent, beginning_of_lent)};
}

std::string explain_frame(std::size_t payload) {
  return payload <= longest_copied
             ? "it is gathered with others of the same moment, and they leave in one system call"
             : "the kernel takes it from where it is";
}

std::unique_ptr<transport> make(runtime::engine& e, settings s) {
  return std::make_unique<tcp_transport>(e, std::move(s));
}

}  // namespace weft::transports::tcp
