// SPDX-License-Identifier: Apache-2.0
#include "wireup/loop/name_lookup.hpp"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <exception>
#include <thread>
#include <utility>

namespace weft::wireup {

using asio::ip::tcp;

namespace {

addresses_of_name ask(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (const int fault = ::getaddrinfo(host.c_str(), nullptr, &wanted, &first); fault != 0)
    return {{}, ::gai_strerror(fault)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(first, &::freeaddrinfo);
  addresses_of_name found;
  for (const addrinfo* a = first; a != nullptr; a = a->ai_next) {
    tcp::endpoint one;
    if (a->ai_addrlen > one.capacity()) continue;
    std::memcpy(one.data(), a->ai_addr, a->ai_addrlen);
    one.port(port);
    found.all.push_back(one);
  }
  if (found.all.empty()) found.fault = "it has no address";
  return found;
}

}  // namespace

std::optional<tcp::endpoint> numeric_endpoint(const std::string& host, std::uint16_t port) {
  asio::error_code fault;
  const auto address = asio::ip::make_address(host.empty() ? "127.0.0.1" : host, fault);
  if (fault) return std::nullopt;
  return tcp::endpoint(address, port);
}

void look_up(const std::shared_ptr<loop>& on, const std::string& host, std::uint16_t port,
             std::function<void(addresses_of_name)> done) {
  // A new thread inherits the signal mask of the loop's thread, which blocks all signals.
  std::thread([on, host, port, done = std::move(done)] {
    pthread_setname_np(pthread_self(), "weft-names");
    try {
      on->post([found = ask(host, port), done] { done(found); });
    } catch (const std::exception&) {
      // No memory: `done` is not called. The requester has a timeout of its own.
    }
  }).detach();
}

}  // namespace weft::wireup
