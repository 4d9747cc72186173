// SPDX-License-Identifier: Apache-2.0
// The other end of a TLS connection writes arbitrary bytes: in place of a handshake on either side;
// between two correct ends, as a party on the way; or in records, as one that has the key. What is
// read is what was written, as far as it comes, and after the first broken rule nothing is.
#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <vector>

#include "net/tls/stream.hpp"
#include "runtime/descriptors/fd.hpp"
#include "target.hpp"

namespace weft::fuzz {

namespace {

using namespace net::tls;

constexpr key common{std::byte{7}};
constexpr std::byte name[] = {std::byte{'f'}, std::byte{'u'}, std::byte{'z'}, std::byte{'z'}};

std::optional<key> find(std::span<const std::byte> asked) {
  if (std::ranges::equal(asked, name)) return common;
  return {};
}

struct socket_pair {
  socket_pair() {
    int both[2];
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both) == 0, "there are sockets");
    ours = unique_fd(both[0]);
    theirs = unique_fd(both[1]);
  }
  void write(std::span<const std::byte> what) const {
    if (!what.empty()) ::send(theirs.get(), what.data(), what.size(), MSG_NOSIGNAL);
  }
  std::vector<std::byte> read() const {
    std::vector<std::byte> all(1 << 16);
    const ssize_t n = ::recv(theirs.get(), all.data(), all.size(), 0);
    all.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return all;
  }
  unique_fd ours, theirs;
};

/// In place of a handshake: bytes of the input, and then the end.
void garble_handshake(input in, stream& s, const socket_pair& between) {
  step now = s.shake_hands();
  while (!in.empty() && now == step::again) {
    between.write(in.bytes(in.get<std::uint8_t>() + 1u));
    now = s.shake_hands();
  }
  ::shutdown(between.theirs.get(), SHUT_WR);
  if (now == step::again) now = s.shake_hands();
  check(now != step::again && now != step::done, "nothing but the key opens a connection");
}

/// All that has come, in reads of the input's sizes.
void read_all(input& in, stream& s, std::vector<std::byte>& heard) {
  bool has_failed = false;
  for (int tries = 0; tries != 64; ++tries) {
    std::vector<std::byte> into(in.get<std::uint16_t>() + 1u);
    const ssize_t n = s.read(into);
    check(n <= static_cast<ssize_t>(into.size()), "no more than was asked for");
    check(!has_failed || n <= 0, "nothing comes after a broken rule");
    if (n < 0 && errno == EPROTO) has_failed = true;
    if (n <= 0 && !has_failed) return;
    if (n > 0) heard.insert(heard.end(), into.begin(), into.begin() + n);
  }
}

void shake(stream& a, stream& b, const socket_pair& of_a, const socket_pair& of_b) {
  for (int n = 0; n != 4; ++n) {
    a.shake_hands();
    of_b.write(of_a.read());
    b.shake_hands();
    of_a.write(of_b.read());
  }
}

/// A party on the way changes what two correct ends say.
void garble_records(input in, const settings& with) {
  const socket_pair of_client, of_server;
  stream client(with, of_client.ours.get(), name, common), server(with, of_server.ours.get(), find);
  shake(client, server, of_client, of_server);
  check(client.shake_hands() == step::done && server.shake_hands() == step::done, "they agree");
  std::vector<std::byte> said, heard;
  while (!in.empty()) {
    const std::size_t size = in.get<std::uint16_t>() % 20'000u;
    for (std::size_t i = 0; i != size; ++i) said.push_back(static_cast<std::byte>(said.size() * 7));
    client.write(std::span(said).last(size));
    std::vector<std::byte> sealed = of_client.read();
    const std::size_t at = in.get<std::uint16_t>() % (sealed.size() + 1);
    switch (in.get<std::uint8_t>() % 5) {
      case 0:
        if (at != sealed.size()) sealed[at] ^= in.get<std::byte>();
        break;
      case 1:
        sealed.resize(at);
        break;
      case 2: {
        const auto more = in.bytes(in.get<std::uint8_t>());
        sealed.insert(sealed.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
        break;
      }
      case 3:
        sealed.erase(sealed.begin(), sealed.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      default:
        break;
    }
    of_server.write(sealed);
    read_all(in, server, heard);
  }
  check(heard.size() <= said.size() && std::equal(heard.begin(), heard.end(), said.begin()),
        "what is read is what was written");
}

/// One that has the key seals whatever it likes.
void seal_anything(input in, const settings& with) {
  const socket_pair between;
  handshake theirs(with, between.theirs.get(), name, common);
  stream ours(with, between.ours.get(), find);
  for (int n = 0; n != 4; ++n) {
    theirs.go_on();
    ours.shake_hands();
  }
  traffic_key seals(traffic_key::way::seals, theirs.own_traffic());
  std::vector<std::byte> heard;
  std::size_t said = 0;
  while (!in.empty()) {
    const auto kind = in.get<content>();
    const auto what = in.bytes(in.get<std::uint8_t>());
    std::vector<std::byte> record(what.size() + record_overhead);
    check(seals.seal(kind, what, record.data()), "there is memory");
    between.write(record);
    said += what.size();
    if ((in.get<std::uint8_t>() & 1) != 0) seals.renew();
    read_all(in, ours, heard);
  }
  check(heard.size() <= said, "no more than was written");
}

}  // namespace

void run(input in) {
  const settings with;
  const auto manner = in.get<std::uint8_t>() % 4;
  const socket_pair between;
  if (manner == 0) {
    stream server(with, between.ours.get(), find);
    garble_handshake(in, server, between);
  } else if (manner == 1) {
    stream client(with, between.ours.get(), name, common);
    garble_handshake(in, client, between);
  } else if (manner == 2) {
    garble_records(in, with);
  } else {
    seal_anything(in, with);
  }
}

}  // namespace weft::fuzz
