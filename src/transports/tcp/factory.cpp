// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/factory.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <weft/options.hpp>

#include "runtime/os/errno_hint.hpp"
#include "transports/tcp/transport.hpp"

namespace weft::transports::tcp {

std::string probe() {
  for (const int family : {AF_INET, AF_INET6})
    if (unique_fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0))) return {};
  return fmt::format("no TCP socket can be had: {}", runtime::describe_errno(errno));
}

std::unique_ptr<transport> make(services& e, settings s) {
  return std::make_unique<tcp_transport>(e, std::move(s));
}

factory kind() {
  return {"tcp", [](services& e, const options& o, std::string& why) -> std::unique_ptr<transport> {
            why = probe();
            if (!why.empty()) return nullptr;
            settings s{o.tcp_interfaces, o.peer_timeout, o.tcp_links};
            s.encryption = o.tcp_tls;
            s.linger = std::min(o.linger, s.linger);
            return make(e, std::move(s));
          }};
}

}  // namespace weft::transports::tcp
