// SPDX-License-Identifier: Apache-2.0
#include "net/address.hpp"

#include <algorithm>
#include <cerrno>

#include "net/socket.hpp"
#include "support/catch.hpp"

using weft::net::address;

TEST_CASE("address: text and bytes") {
  const auto v4 = address::of_text("192.0.2.1");
  REQUIRE(v4);
  CHECK_FALSE(v4->is_v6());
  CHECK(v4->ip() == address::ip_bytes{192, 0, 2, 1});
  CHECK(v4->port() == 0);
  CHECK(v4->host() == "192.0.2.1");
  const auto v6 = address::of_text("2001:db8::1");
  REQUIRE(v6);
  CHECK(v6->is_v6());
  const address with_port = address::of_ip(true, v6->ip(), 80);
  CHECK(with_port.text() == "[2001:db8::1]:80");
  CHECK(address::of_ip(false, v4->ip(), 80).text() == "192.0.2.1:80");
  CHECK(address::of(with_port.get())->text() == with_port.text());
  CHECK_FALSE(address::of_text("localhost"));
  CHECK_FALSE(address::of_text(""));
  sockaddr of_another{};
  of_another.sa_family = AF_UNIX;
  CHECK_FALSE(address::of(&of_another));
  CHECK_FALSE(address::of(nullptr));
}

TEST_CASE("address: one host has a plain and a mapped form, and any port") {
  const auto plain = address::of_text("192.0.2.1"), mapped = address::of_text("::ffff:192.0.2.1");
  CHECK(plain->is_host_of(*mapped));
  CHECK(mapped->is_host_of(address::of_ip(false, plain->ip(), 7)));
  CHECK_FALSE(plain->is_host_of(*address::of_text("192.0.2.2")));
  CHECK_FALSE(plain->is_host_of(*address::of_text("2001:db8::1")));
}

TEST_CASE("address: those of this host") {
  CHECK(address::of_text("127.0.0.1")->is_here());
  CHECK(address::of_text("127.1.2.3")->is_here());
  const auto all = weft::net::interface_addresses();
  CHECK(std::ranges::any_of(all, [](const auto& i) { return i.is_loopback && i.is_up; }));
  for (const auto& i : all)
    if (i.at) CHECK(i.at->port() == 0);
}

TEST_CASE("socket: listening at a port that the system chooses") {
  using namespace weft::net;
  const weft::unique_fd fd = listen_on(*address::of_text("127.0.0.1"), takes::its_family, 1);
  REQUIRE(fd);
  const auto bound = address::of_socket(fd.get(), false);
  REQUIRE(bound);
  CHECK(bound->port() != 0);
  CHECK_FALSE(address::of_socket(fd.get(), true));
  CHECK_FALSE(listen_on(*bound, takes::its_family, 1));
  CHECK(errno == EADDRINUSE);
}
