// SPDX-License-Identifier: Apache-2.0
// Signals, of which barriers are made: they overtake messages that wait for credit, and cost no
// credit.
#include "net.hpp"

using namespace net;
using weft::detail::send_mode;

namespace {

constexpr tag our_step{std::uint64_t{0xff} << 56 | 3};

const bytes no_bytes;

/// Node 0 sends more to node 1 than node 1 can keep.
struct full_receiver {
  nodes n{2, {}, {0, 64u << 10}};
  bytes data = pattern(100);
  std::vector<std::shared_ptr<sending>> sends;

  explicit full_receiver(std::size_t count = 100) {
    for (std::size_t i = 0; i != count; ++i) sends.push_back(n[0].send(1, data, tag{i}));
  }
  void receive_all() {
    for (std::size_t i = 0; i != sends.size(); ++i) {
      bytes in(data.size());
      const auto op = n[1].recv(0, in, tag{i});
      n.settle();
      REQUIRE(op->ended_with(errc::ok));
      CHECK((in == data));
      CHECK(sends[i]->ended_with(errc::ok));
    }
  }
};

}  // namespace

TEST_CASE("signal: passes messages that wait for credit, before and after there is a link") {
  const bool linked = GENERATE(true, false);
  CAPTURE(linked);
  full_receiver c;
  if (linked) c.n.settle();
  const auto signal = c.n[0].send(1, no_bytes, our_step, send_mode::signal);
  c.n.settle();
  CHECK(signal->ended_with(errc::ok));
  CHECK_FALSE(c.sends.back()->ended());
  bytes none;
  const auto receive = c.n[1].recv(0, none, our_step);
  c.n.settle();
  CHECK(receive->ended_with(errc::ok));
  CHECK(receive->got.size == 0);
  CHECK(receive->got.tag == our_step);
  c.receive_all();
  CHECK(c.n.clean());
}

TEST_CASE("signal: comes between the frames of a message") {
  nodes n(2);
  const bytes out = pattern(3'000'000);
  bytes in(out.size()), none;
  const auto receive = n[1].recv(0, in, tag{1});
  const auto awaited = n[1].recv(0, none, our_step);
  const auto send = n[0].send(1, out, tag{1});
  while (!n[0].to(1).connection().link()) REQUIRE(n.step());
  const auto signal = n[0].send(1, no_bytes, our_step, send_mode::signal);
  while (!awaited->ended()) REQUIRE(n.step());
  CHECK_FALSE(receive->ended());
  n.settle();
  CHECK(receive->ended_with(errc::ok));
  CHECK(send->ended_with(errc::ok));
  CHECK(signal->ended_with(errc::ok));
  CHECK((in == out));
  CHECK(n.clean());
}

TEST_CASE("signal: one that waits for a link can be stopped, and fails with its peer") {
  nodes n(2);
  n[0].connector.on_connect = nullptr;
  const auto stopped = n[0].send(1, no_bytes, our_step, send_mode::signal);
  const auto failed = n[0].send(1, no_bytes, our_step, send_mode::signal);
  n.settle();
  CHECK_FALSE(stopped->ended());
  stopped->cancel();
  n.settle();
  CHECK(stopped->ended_with(errc::stopped));
  CHECK_FALSE(failed->ended());
  peer& other = n[0].to(1);
  {
    const engine::holder hold(n[0].engine);
    other.give_up(errc::unreachable, "no way");
  }
  n.settle();
  CHECK(failed->ended_with(errc::unreachable));
  CHECK(n[0].send(1, no_bytes, our_step, send_mode::signal)->ended_with(errc::unreachable));
}

TEST_CASE("signal: a peer's memory is not another's while one of its waits") {
  nodes n(2);
  n[0].send(1, no_bytes, our_step, send_mode::signal);
  n.settle();
  peer& other = n[1].to(0);
  {
    const engine::holder hold(n[1].engine);
    other.end({errc::closed, "it went"});
    other.drop_link();
    CHECK_FALSE(other.is_reusable());
  }
  bytes none;
  CHECK(n[1].recv(0, none, our_step)->ended_with(errc::ok));
  const engine::holder hold(n[1].engine);
  CHECK(other.is_reusable());
}

TEST_CASE("signal: many can wait, and each meets one receive") {
  nodes n(2);
  constexpr int many = 1000;
  for (int i = 0; i != many; ++i) n[0].send(1, no_bytes, our_step, send_mode::signal);
  n.settle();
  bytes none;
  for (int i = 0; i != many; ++i) REQUIRE(n[1].recv(0, none, our_step)->ended_with(errc::ok));
  CHECK_FALSE(n[1].recv(0, none, our_step)->ended());
  CHECK_FALSE(n[1].to(0).has_ended());
}

TEST_CASE("signal: on an open connection it leaves within the call, and not where it must not") {
  full_receiver c;
  c.n.settle();
  REQUIRE_FALSE(c.sends.back()->ended());  // a message has its turn, and waits
  CHECK(c.n[0].send(1, no_bytes, our_step, send_mode::signal, 7)->ended_with(errc::ok));
  c.n.settle();
  bytes none;
  const auto receive = c.n[1].recv(0, none, our_step);
  CHECK(receive->ended_with(errc::ok));
  CHECK(receive->got.immediate == 7);

  sending stopped(
      weft::send_request{&c.n[0].to(1), our_step, weft::const_buffer{}, send_mode::signal});
  stopped.cancel();
  CHECK(stopped.go().ended_with(errc::stopped));
  c.n[0].to(1).close();
  CHECK(c.n[0].send(1, no_bytes, our_step, send_mode::signal)->ended_with(errc::closed));
  c.n.settle();
  CHECK_FALSE(c.n[1].recv(0, none, our_step)->ended_with(errc::ok));
}
