// SPDX-License-Identifier: Apache-2.0
// Short messages without an operation, by a thread that holds the progress lock and is not inside
// run(): they leave within the call, or nothing happens.
#include <array>

#include "net.hpp"

using namespace net;
using weft::send_request;
using weft::detail::send_mode;

namespace {

const bytes data = pattern(100);

/// A connection of node 0 to node 1 that has carried a message.
struct open_connection {
  nodes n;
  peer& to;

  explicit open_connection(const weft::proto::messenger_settings& receiver = {64u << 20, 64u << 10})
      : n(2, {}, {{64u << 20, 64u << 10}, receiver}), to(n[0].to(1)) {
    bytes none;
    n[0].send(1, none, tag{0});
    receive(none, tag{0});
  }
  void receive(const bytes& expected, tag t) {
    bytes in(expected.size());
    const auto op = n[1].recv(0, in, t);
    n.settle();
    REQUIRE(op->ended_with(errc::ok));
    CHECK((in == expected));
  }
  send_request request(const bytes& out, tag t, send_mode mode = send_mode::standard) {
    return {&to, t, weft::const_buffer(out), mode};
  }
  bool try_held(const send_request& r) {
    const engine::holder hold(n[0].engine);
    return r.try_held();
  }
  /// It does not leave, and nothing has happened.
  void stays(const send_request& r) {
    const auto sent = n[0].messages.snapshot_held().messages_sent;
    const auto outstanding = n[0].engine.outstanding();
    CHECK_FALSE(try_held(r));
    CHECK(n[0].messages.snapshot_held().messages_sent == sent);
    CHECK(n[0].engine.outstanding() == outstanding);
  }
};

}  // namespace

TEST_CASE("held: a message leaves within the call, without an operation, and its buffer is free") {
  open_connection c;
  const std::size_t size = GENERATE(0u, 1u, 44u, 45u, 1000u);
  const std::uint64_t immediate = GENERATE(0u, 7u);
  CAPTURE(size, immediate);
  const bytes sent = pattern(size, 3);
  bytes out = sent, in(size);
  send_request r = c.request(out, tag{1});
  r.immediate = immediate;
  // The lock is what it needs: this thread is not inside run().
  CHECK_FALSE(r.try_now());
  const auto before = c.n[0].messages.snapshot_held().messages_sent;
  REQUIRE(c.try_held(r));
  out.assign(size, std::byte{0xee});
  CHECK(c.n[0].messages.snapshot_held().messages_sent == before + 1);
  CHECK(c.n[0].engine.outstanding() == 0);
  // It comes once.
  const auto first = c.n[1].recv(0, in, tag{1}), second = c.n[1].recv(0, in, tag{1});
  c.n.settle();
  REQUIRE(first->ended_with(errc::ok));
  CHECK((in == sent));
  CHECK(first->got.size == size);
  CHECK(first->got.immediate == immediate);
  CHECK_FALSE(second->ended());
}

TEST_CASE("held: nothing happens without a link, and to no peer or another one") {
  nodes n(2);
  peer& to = n[0].to(1);
  const engine::holder hold(n[0].engine);
  CHECK_FALSE(send_request{&to, tag{1}, weft::const_buffer(data)}.try_held());
  CHECK_FALSE(send_request{nullptr, tag{1}, weft::const_buffer(data)}.try_held());
  CHECK(n[0].messages.snapshot_held().messages_sent == 0);
  CHECK_FALSE(to.connection().link());
}

TEST_CASE("held: nothing happens with a request that needs an operation") {
  open_connection c;
  const bytes longer = pattern(c.to.sender().small_limit() + 1);
  const std::array<weft::const_buffer, 2> parts{weft::const_buffer(data), weft::const_buffer(data)};
  c.stays(c.request(longer, tag{1}));
  c.stays(c.request(data, tag{1}, send_mode::synchronous));
  c.stays(c.request(data, tag{1}, send_mode::signal));
  c.stays({&c.to, tag{1}, std::span<const weft::const_buffer>(parts)});
  c.stays({{&c.to, c.to.id() + 1}, tag{1}, weft::const_buffer(data)});  // the memory's next peer
  bytes in(longer.size());
  const auto receive = c.n[1].recv(0, in, tag{1});
  c.n.settle();
  CHECK_FALSE(receive->ended());
}

TEST_CASE("held: one overtakes no message that waits for credit") {
  open_connection c({256u << 10, 64u << 10});
  std::size_t sent = 0;
  while (c.try_held(c.request(data, tag{sent}))) REQUIRE(++sent != 1'000'000);
  REQUIRE(sent != 0);
  const auto waits = c.n[0].send(1, data, tag{sent});
  c.stays(c.request(data, tag{sent}));
  for (std::size_t i = 0; i <= sent; ++i) c.receive(data, tag{i});
  CHECK(waits->ended_with(errc::ok));
  REQUIRE(c.try_held(c.request(data, tag{sent})));
  c.receive(data, tag{sent});
}

TEST_CASE("held: nothing leaves for a peer that is closed or lost") {
  open_connection c;
  if (GENERATE(true, false)) {
    c.to.close();
  } else {
    const engine::holder hold(c.n[0].engine);
    c.to.give_up(errc::peer_lost, "it went");
  }
  c.stays(c.request(data, tag{1}));
}
