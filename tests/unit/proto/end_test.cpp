// SPDX-License-Identifier: Apache-2.0
// The end of a context, and of a connection: what was accepted, or is owed, leaves before it.
#include <cstdint>
#include <string>
#include <vector>

#include "net.hpp"

using namespace net;
using weft::detail::send_mode;

namespace {

/// As the end of a context does: nothing new begins, and what is owed leaves.
void drain(nodes& n, side& s) {
  s.messages.begin_end();
  while (s.messages.owes() && n.step()) {
  }
}

}  // namespace

TEST_CASE("end: messages that wait for their connection, credit or an answer are owed") {
  fake::settings s;
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable);
  const std::size_t size = GENERATE(0u, 8u, 5000u, 60'000u, 400'000u);
  const auto mode = GENERATE(send_mode::standard, send_mode::synchronous);
  CAPTURE(size, static_cast<int>(mode));
  constexpr std::uint64_t many = 40;
  nodes n(2, s, {8u << 10, 64u << 10});  // the budget is too small for all of them
  const bytes out = pattern(size);
  std::vector<bytes> in(many, bytes(size));
  std::vector<std::shared_ptr<receiving>> receives;
  std::vector<std::shared_ptr<sending>> sends;
  for (std::uint64_t i = 0; i != many; ++i) {
    receives.push_back(n[1].recv(0, in[i], tag{i}));
    sends.push_back(n[0].send(1, out, tag{i}, mode));
  }
  CHECK(n[0].messages.owes());
  drain(n, n[0]);
  for (const auto& op : sends) REQUIRE(op->ended_with(errc::ok));
  n[0].end();
  n.settle();
  for (std::uint64_t i = 0; i != many; ++i) {
    REQUIRE(receives[i]->ended_with(errc::ok));
    CHECK((in[i] == out));
  }
}

TEST_CASE("end: an answer that waits for a link is owed") {
  nodes n(2);
  const bytes out = pattern(100);
  bytes in(100);
  auto send = n[0].send(1, out, tag{1}, send_mode::synchronous);
  n.settle();
  n.links_allowed = false;
  auto receive = n[1].recv(0, in, tag{1});
  n.settle();
  REQUIRE(receive->ended_with(errc::ok));
  REQUIRE_FALSE(send->ended());
  CHECK(n[1].messages.owes());
  n.links_allowed = true;
  drain(n, n[1]);
  n[1].end();
  n.settle();
  CHECK(send->ended_with(errc::ok));
}

TEST_CASE("end: nothing new begins") {
  nodes n(2);
  const bytes out = pattern(100);
  n[0].send(1, out, tag{1});
  n.settle();
  n[0].messages.begin_end();
  CHECK(n[0].send(1, out, tag{1})->ended_with(errc::closed));
  CHECK(n[0].send(1, pattern(100'000), tag{1})->ended_with(errc::closed));
  CHECK_FALSE(n[0].messages.owes());
}

TEST_CASE("end: accesses to memory that have begun are owed") {
  nodes n(2);
  const bytes out = pattern(200'000);
  bytes memory(out.size());
  const std::uint64_t key = n[1].messages.regions().add(memory, weft::rights::read_write);
  tracked<weft::transfer_operation> put(weft::transfer_request{{.to = &n[0].to(1),
                                                                .kind = weft::detail::rma_kind::put,
                                                                .where = {key, 0, memory.size()},
                                                                .data = out}});
  put.go();
  CHECK(n[0].messages.owes());
  drain(n, n[0]);
  CHECK(put.ended_with(errc::ok));
  CHECK((memory == out));
  n[1].messages.regions().end(key);
}

TEST_CASE("end: a peer to which something is owed is given up, and operations here end") {
  nodes n(3);
  const bytes out = pattern(100);
  bytes in(100);
  auto never = n[0].send(1, out, tag{1}, send_mode::synchronous);
  auto well = n[0].send(2, out, tag{1});
  n.settle();
  std::vector<peer*> told;
  n[0].connector.on_given_up = [&](peer& p) { told.push_back(&p); };
  n[0].messages.begin_end();
  CHECK(n[0].messages.give_up_debts("too late") == 1);
  n[0].engine.poll_once();
  CHECK(told == std::vector<peer*>{&n[0].to(1)});
  CHECK(never->ended_with(errc::timed_out));
  CHECK(never->explain().find("too late") != std::string::npos);
  CHECK(well->ended_with(errc::ok));
}

TEST_CASE("close: answers that found no room leave before the end") {
  fake::settings s;
  s.shortest_way = s.longest_way = fake::time(0);
  s.room = 4;
  nodes n(2, s);
  const bytes small = pattern(10);
  bytes in(10);
  n[0].send(1, small, tag{99});
  n[1].send(0, small, tag{99});
  n.settle();
  std::vector<std::shared_ptr<receiving>> receives;
  std::vector<std::shared_ptr<sending>> sends;
  const auto send = [&](std::uint64_t count) {
    for (; count != 0; --count) {
      receives.push_back(n[1].recv(0, in, tag{sends.size()}));
      sends.push_back(n[0].send(1, small, tag{sends.size()}, send_mode::synchronous));
    }
  };
  send(4);
  n[1].engine.poll_once();  // its answers fill the link
  send(3);
  peer& other = n[0].to(1);
  {
    const engine::holder hold(n[0].engine);
    other.close();
  }
  n[1].engine.poll_once();
  REQUIRE(n[1].to(0).now() == peer::state::closed);
  n.settle();
  for (const auto& op : receives) CHECK(op->ended_with(errc::ok));
  for (const auto& op : sends) CHECK(op->ended_with(errc::ok));
  CHECK(other.now() == peer::state::closed);
}

TEST_CASE("end: a context does not wait for a link only to answer a good-bye") {
  nodes n(2);
  const bytes small = pattern(10);
  n[0].send(1, small, tag{1});
  n.settle();
  n.links_allowed = false;
  peer& other = n[0].to(1);
  {
    const engine::holder hold(n[0].engine);
    other.close();
  }
  n.settle();
  REQUIRE(n[1].to(0).now() == peer::state::closed);
  CHECK_FALSE(n[1].messages.owes());
}
