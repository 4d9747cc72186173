// SPDX-License-Identifier: Apache-2.0
#include "net/tls/stream.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/descriptors/fd.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "support/skip.hpp"

using namespace weft::net;
using weft::tests::bytes;
using weft::tests::pattern;

namespace {

bytes named(std::string_view name) {
  const auto all = std::as_bytes(std::span(name));
  return bytes(all.begin(), all.end());
}

tls::key key_of(std::uint8_t seed) {
  tls::key k{};
  std::fill(k.begin(), k.end(), std::byte{seed});
  return k;
}

/// Two sockets with a party in between, who passes on what it likes.
struct wire {
  wire() {
    for (auto* const ends : {&client, &server}) {
      int both[2];
      REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both) == 0);
      ends[0] = weft::unique_fd(both[0]);
      (ends == &client ? beside_client : beside_server) = weft::unique_fd(both[1]);
    }
  }
  static bytes take(int from, std::size_t most) {
    bytes all(most);
    const ssize_t n = ::recv(from, all.data(), most, MSG_DONTWAIT);
    all.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return all;
  }
  static void give(int to, const bytes& what) {
    REQUIRE(::send(to, what.data(), what.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(what.size()));
  }
  /// Both ways, as it is. \return bytes
  std::size_t pass_on(std::size_t most = 1 << 16) {
    std::size_t moved = 0;
    for (const auto& [from, to] : {std::pair{beside_client.get(), beside_server.get()},
                                   std::pair{beside_server.get(), beside_client.get()}}) {
      const bytes some = take(from, most);
      if (!some.empty()) give(to, some);
      moved += some.size();
    }
    return moved;
  }

  weft::unique_fd client, server, beside_client, beside_server;
};

struct both_ends {
  explicit both_ends(std::uint8_t clients = 1, std::uint8_t servers = 1,
                     std::uint64_t records = tls::settings::usual_records_of_key)
      : with(records),
        client(with, between.client.get(), named("this one"), key_of(clients)),
        server(with, between.server.get(),
               [this, servers](std::span<const std::byte> name) -> std::optional<tls::key> {
                 asked = bytes(name.begin(), name.end());
                 if (asked != named("this one")) return {};
                 return key_of(servers);
               }) {}

  /// Until both have ended it, well or not. \param most bytes that pass at once
  void shake_hands(std::size_t most = 1 << 16) {
    using step = tls::step;
    for (int n = 0; n != 10'000; ++n) {
      if (of_client == step::again) of_client = client.shake_hands();
      if (of_server == step::again) of_server = server.shake_hands();
      if (between.pass_on(most) == 0 && of_client != step::again && of_server != step::again)
        return;
    }
  }
  /// What the server reads, until so much has come, or nothing moves.
  bytes heard(std::size_t size) {
    bytes all(size);
    std::size_t got = 0;
    for (int idle = 0; got != size && idle != 3;) {
      const std::size_t passed = between.pass_on();
      client.flush();
      const ssize_t n = server.read(std::span(all).subspan(got));
      if (n > 0) got += static_cast<std::size_t>(n);
      idle = n > 0 || passed != 0 ? 0 : idle + 1;
      if (n == 0 || (n < 0 && errno != EAGAIN)) break;
    }
    all.resize(got);
    return all;
  }

  wire between;
  tls::settings with;
  tls::stream client, server;
  tls::step of_client = tls::step::again, of_server = tls::step::again;
  bytes asked;
};

/// Whether this build has no TLS: then the tests have nothing to test.
bool absent() {
  if (tls::is_built_in()) return false;
  weft::tests::skip("weft is built without OpenSSL");
  return true;
}

using step = tls::step;

}  // namespace

TEST_CASE("tls: both ends know each other, and share secrets of their own") {
  if (absent()) return;
  both_ends two;
  two.shake_hands();
  REQUIRE(two.of_client == step::done);
  REQUIRE(two.of_server == step::done);
  CHECK(two.asked == named("this one"));
  CHECK(two.client.secret() == two.server.secret());
  both_ends others;
  others.shake_hands();
  CHECK(others.client.secret() != two.client.secret());
}

TEST_CASE("tls: a byte at a time does for the handshake") {
  if (absent()) return;
  both_ends two;
  two.shake_hands(1);
  CHECK(two.of_client == step::done);
  CHECK(two.of_server == step::done);
}

TEST_CASE("tls: another key is refused, and both learn it") {
  if (absent()) return;
  both_ends two(1, 2);
  two.shake_hands();
  CHECK(two.of_server == step::failed);
  CHECK_FALSE(two.server.trouble().empty());
  CHECK(two.of_client == step::turned_away);
}

TEST_CASE("tls: a name without a key is refused, and no other key is asked for") {
  if (absent()) return;
  wire between;
  const tls::settings with;
  tls::stream client(with, between.client.get(), named("another"), key_of(1));
  int asked = 0;
  tls::stream server(with, between.server.get(), [&](auto) -> std::optional<tls::key> {
    ++asked;
    return {};
  });
  CHECK(client.shake_hands() == step::again);
  between.pass_on();
  CHECK(server.shake_hands() == step::failed);
  CHECK(asked == 1);
  between.pass_on();
  CHECK(client.shake_hands() == step::turned_away);
}

TEST_CASE("tls: garbage, silence and an end in the handshake") {
  if (absent()) return;
  SECTION("garbage") {
    for (const std::size_t size : {1u, 5u, 100u, 4000u}) {
      wire between;
      const tls::settings with;
      tls::stream server(with, between.server.get(), [](auto) { return std::optional(key_of(1)); });
      wire::give(between.beside_server.get(), pattern(size));
      const step now = server.shake_hands();
      CHECK(now == (size < 5 ? step::again : step::failed));
    }
  }
  SECTION("an announced length, and byte by byte without an end") {
    wire between;
    const tls::settings with;
    tls::stream server(with, between.server.get(), [](auto) { return std::optional(key_of(1)); });
    // A ClientHello of 100,000 bytes in records of 16,000.
    bytes record(5 + 16'000);
    const unsigned char head[] = {22, 3, 1, 16'000 >> 8, 16'000 & 255, 1, 1, 0x86, 0xa0};
    std::memcpy(record.data(), head, sizeof head);
    wire::give(between.beside_server.get(), record);
    step now = step::again;
    for (int n = 0; n != 10 && now == step::again; ++n) now = server.shake_hands();
    CHECK(now == step::failed);
  }
  SECTION("an end") {
    both_ends two;
    CHECK(two.client.shake_hands() == step::again);
    wire::give(two.between.beside_server.get(), wire::take(two.between.beside_client.get(), 50));
    CHECK(two.server.shake_hands() == step::again);
    two.between.beside_server = {};
    two.between.beside_client = {};
    CHECK(two.server.shake_hands() == step::hung_up);
    CHECK(two.client.shake_hands() == step::hung_up);
  }
}

TEST_CASE("tls: bytes arrive whole and in order, in any pieces") {
  if (absent()) return;
  both_ends two;
  two.shake_hands();
  const bytes all = pattern(300'000);
  std::size_t at = 0, got = 0;
  bytes heard(all.size());
  bool was_full = false;
  for (std::size_t piece = 1; got != all.size(); piece = piece * 3 % 40'001) {
    const auto some = std::span(all).subspan(at, std::min(piece, all.size() - at));
    if (!some.empty()) {
      const ssize_t n = two.client.write(some, piece % 2 == 0);
      if (n > 0) at += static_cast<std::size_t>(n);
      if (n < 0) REQUIRE(errno == EAGAIN);
    } else {
      two.client.flush();
    }
    was_full = was_full || !two.client.unsent().empty();
    two.between.pass_on(1 + piece);
    const ssize_t n =
        two.server.read(std::span(heard).subspan(got, std::min(1 + piece / 2, heard.size() - got)));
    if (n > 0) got += static_cast<std::size_t>(n);
    if (n < 0) REQUIRE(errno == EAGAIN);
  }
  CHECK((heard == all));
  CHECK(was_full);
}

TEST_CASE("tls: what is gathered leaves with what follows it") {
  if (absent()) return;
  both_ends two;
  two.shake_hands();
  const bytes head = pattern(16), body = pattern(20'000, 2);
  CHECK(two.client.write(head, true) == 16);
  CHECK(two.between.pass_on() == 0);
  CHECK(two.client.write(body) == 20'000);
  bytes whole = head;
  whole.insert(whole.end(), body.begin(), body.end());
  CHECK((two.heard(whole.size()) == whole));
}

TEST_CASE("tls: one system call brings several records, and the rest is known of") {
  if (absent()) return;
  both_ends two;
  two.shake_hands();
  for (int n = 0; n != 3; ++n) CHECK(two.client.write(pattern(100)) == 100);
  two.between.pass_on();
  bytes some(150);
  CHECK(two.server.read(some) == 150);
  CHECK(two.server.may_have_more());
  CHECK(two.server.read(some) == 150);
  CHECK_FALSE(two.server.may_have_more());
  CHECK(two.server.read(some) == -1);
  CHECK(errno == EAGAIN);
}

TEST_CASE("tls: a changed, doubled or left out byte ends the connection") {
  if (absent()) return;
  const auto break_by = [](auto&& change) {
    both_ends two;
    two.shake_hands();
    for (int n = 0; n != 2; ++n) REQUIRE(two.client.write(pattern(1000)) == 1000);
    bytes sealed = wire::take(two.between.beside_client.get(), 1 << 16);
    change(sealed);
    wire::give(two.between.beside_server.get(), sealed);
    bytes into(5000);
    ssize_t n = two.server.read(into);
    if (n > 0) {
      CHECK(n == 1000);  // the record before it
      n = two.server.read(into);
    }
    CHECK(n == -1);
    CHECK(errno == EPROTO);
    CHECK_FALSE(two.server.trouble().empty());
    CHECK(two.server.read(into) == -1);
    CHECK(errno == EPROTO);
  };
  break_by([](bytes& b) { b[100] ^= std::byte{1}; });
  break_by([](bytes& b) { b[b.size() / 2 + 100] ^= std::byte{1}; });
  break_by([](bytes& b) { b.insert(b.begin(), b.begin(), b.begin() + 1022); });
  break_by(
      [](bytes& b) { b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(b.size() / 2)); });
}

TEST_CASE("tls: an end, in order and in the middle of a record") {
  if (absent()) return;
  both_ends two;
  two.shake_hands();
  REQUIRE(two.client.write(pattern(1000)) == 1000);
  bytes into(5000);
  SECTION("in order") {
    CHECK(two.client.seal_all(pattern(30'000)));
    const bytes left(two.client.unsent().begin(), two.client.unsent().end());
    CHECK(left.size() > 30'000);
    two.between.pass_on();
    wire::give(two.between.beside_server.get(), left);
    std::size_t got = 0;
    for (ssize_t n = 1; n > 0 && got != 31'000; got += static_cast<std::size_t>(n))
      n = two.server.read(into);
    CHECK(got == 31'000);
    two.between.beside_server = {};
    CHECK(two.server.read(into) == 0);
  }
  SECTION("in the middle") {
    wire::give(two.between.beside_server.get(), wire::take(two.between.beside_client.get(), 500));
    CHECK(two.server.read(into) == -1);
    CHECK(errno == EAGAIN);
    two.between.beside_server = {};
    CHECK(two.server.read(into) == 0);
  }
}

TEST_CASE("tls: no signal, and a reason, when the other side is gone") {
  if (absent()) return;
  both_ends two;
  two.shake_hands();
  two.between.beside_client = {};
  bytes some(100'000);
  ssize_t n = 0;
  for (int tries = 0; tries != 4 && n >= 0; ++tries) n = two.client.write(some);
  CHECK(n == -1);
  CHECK(errno == EPIPE);
}

TEST_CASE("tls: traffic keys are renewed on the way") {
  if (absent()) return;
  both_ends two(1, 1, 16);
  two.shake_hands();
  for (int n = 0; n != 100; ++n) {
    const bytes some = pattern(50, static_cast<std::uint64_t>(n));
    REQUIRE(two.client.write(some) == 50);
    REQUIRE((two.heard(50) == some));
  }
  REQUIRE(two.server.write(pattern(50)) == 50);
  two.between.pass_on();
  bytes into(50);
  CHECK(two.client.read(into) == 50);
  two.client.rest();
  two.server.rest();
  REQUIRE(two.client.write(pattern(70'000)) > 0);
  CHECK(two.heard(10'000).size() == 10'000);
}
