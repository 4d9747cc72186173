// SPDX-License-Identifier: Apache-2.0
// A peer that dies after any number of steps, and peers that close.
#include <chrono>
#include <future>
#include <vector>

#include "net.hpp"
#include "proto/operations/closed_operation.hpp"

using namespace net;
using weft::any_tag;
using weft::probe_request;
using weft::detail::send_mode;

namespace {

using ending = tracked<weft::proto::closed_operation>;

void close(side& s, peer& p) {
  const engine::holder hold(s.engine);
  p.close();
}

}  // namespace

TEST_CASE("failure: a peer that dies at any moment ends everything with it once, and nobody else") {
  fake::settings s;
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable);
  s.seed = GENERATE(1u, 2u);
  int steps = 0;
  // A sanitizer makes this ten times slower; the same code runs at every fifth step.
  for (bool quiet = false; !quiet; steps += WEFT_TEST_SANITIZED ? 5 : 1) {
    CAPTURE(steps, s.seed);
    nodes n(3, s, {256u << 10, 64u << 10});
    const std::vector<bytes> out{pattern(0), pattern(44), pattern(5000), pattern(60'000),
                                 pattern(400'000)};
    std::vector<std::shared_ptr<sending>> mine, theirs, bystander;
    std::vector<std::shared_ptr<receiving>> receives, from_bystander;
    std::vector<bytes> in(2 * out.size(), bytes(400'000)), in_bystander(out.size(), bytes(400'000));

    for (std::size_t i = 0; i < out.size(); ++i) {
      mine.push_back(
          n[0].send(1, out[i], tag{i}, i % 2 ? send_mode::synchronous : send_mode::standard));
      theirs.push_back(
          n[1].send(0, out[i], tag{i}, i % 2 ? send_mode::standard : send_mode::synchronous));
      theirs.push_back(n[1].send(0, out[i], tag{99}));  // there is no receive for these in time
      if (i != 2) receives.push_back(n[0].recv(1, in[i], tag{i}));
      bystander.push_back(n[2].send(0, out[i], tag{i}));
      from_bystander.push_back(n[0].recv(2, in_bystander[i], tag{i}));
    }
    bytes never(1);
    receives.push_back(n[0].recv(1, never, tag{1000}));
    probing probe(probe_request{&n[0].messages, &n[0].to(1), tag{1000}});
    probe.go();
    ending closed(weft::proto::closed(n[0].to(1)));
    closed.go();
    std::vector<std::shared_ptr<receiving>> at_peer;
    std::vector<bytes> in_peer(out.size(), bytes(400'000));
    for (std::size_t i = 0; i < out.size(); i += 2)
      at_peer.push_back(n[1].recv(0, in_peer[i], tag{i}));

    for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
    n.world.kill(1);
    n.settle();
    // A link that was never made cannot break: a later request is told.
    bytes nothing;
    CHECK(n[0].send(1, nothing, tag{1})->ends <= 1);
    n.settle();

    const auto gone = [](const auto& op) {
      return op.ends == 1 && (op.status == errc::ok || op.status == errc::peer_lost);
    };
    for (const auto& op : mine) REQUIRE(gone(*op));
    for (const auto& op : receives) REQUIRE(gone(*op));
    CHECK(probe.ended_with(errc::peer_lost));
    CHECK(closed.ends == 1);
    for (const auto& op : bystander) REQUIRE(op->ended_with(errc::ok));
    for (std::size_t i = 0; i < out.size(); ++i) {
      REQUIRE(from_bystander[i]->ended_with(errc::ok));
      in_bystander[i].resize(out[i].size());
      CHECK((in_bystander[i] == out[i]));
    }
    // Messages that had arrived whole can be received; after them only the end.
    bytes late(400'000);
    std::shared_ptr<receiving> receive;
    int more = 0;
    do {
      receive = n[0].recv(1, late, any_tag);
      n.settle();
      REQUIRE(receive->ends == 1);
    } while (receive->status == errc::ok && ++more < 100);
    CHECK(receive->status == errc::peer_lost);
    CHECK(n[0].send(1, late, tag{1})->ended_with(errc::peer_lost));
    CHECK(n[0].clean());
  }
  CHECK(steps > 20);
}

TEST_CASE("failure: the end of the context ends everything with errc::closed") {
  nodes n(2);
  const int steps = GENERATE(0, 1, 5, 20, 40, 100, 1000);
  const bytes out = pattern(3'000'000);
  bytes in(out.size());
  auto send = n[0].send(1, out, tag{1});
  auto coming = n[0].recv(1, in, tag{1});
  auto any = n[0].recv_any(in, tag{77});
  bytes back(out.size());
  auto opposite = n[1].send(0, out, tag{1});
  auto receive = n[1].recv(0, back, tag{1});
  for (int i = 0; i < steps; ++i) n.step();
  n[0].end();
  for (const weft::operation* op :
       std::initializer_list<const weft::operation*>{send.get(), coming.get()})
    CHECK((op->status == errc::closed || op->status == errc::ok));
  CHECK(send->ends == 1);
  CHECK(coming->ends == 1);
  CHECK(any->ended_with(errc::closed));
  CHECK(n[0].clean());
  CHECK(n[0].recv(1, in, tag{1})->ended_with(errc::closed));
  CHECK(n[0].send(1, out, tag{1})->ended_with(errc::closed));
}

TEST_CASE("close: what was sent before arrives, and both sides hear of it") {
  nodes n(2);
  const bool both_ways = GENERATE(true, false);
  const bytes out = pattern(50'000);
  bytes in(out.size()), in_back(out.size());
  if (both_ways) {
    auto back = n[1].send(0, out, tag{2});
    auto receive = n[0].recv(1, in_back, tag{2});
    n.settle();
    REQUIRE(receive->ended_with(errc::ok));
  }
  auto send = n[0].send(1, out, tag{1});
  auto waits = n[0].recv(1, in_back, tag{3});
  auto waits_there = n[1].recv(0, in_back, tag{3});
  ending here(weft::proto::closed(n[0].to(1)));
  ending there(weft::proto::closed(n[1].to(0)));
  here.go();
  there.go();
  close(n[0], n[0].to(1));
  auto too_late = n[0].send(1, out, tag{1});
  n.settle();
  CHECK(send->ended_with(errc::ok));
  CHECK(too_late->ended_with(errc::closed));
  CHECK(waits->ended_with(errc::closed));
  CHECK(waits_there->ended_with(errc::closed));
  CHECK(here.ends == 1);
  CHECK(there.ends == 1);
  auto receive = n[1].recv(0, in, tag{1});
  n.settle();
  CHECK(receive->ended_with(errc::ok));
  CHECK((in == out));
  CHECK(n[1].send(0, out, tag{1})->ended_with(errc::closed));
  CHECK(n[1].recv(0, in, tag{1})->ended_with(errc::closed));
  CHECK(n.clean());
}

TEST_CASE("close: by the side that never sent anything") {
  nodes n(2);
  const bool spoken = GENERATE(true, false);
  const bytes out = pattern(10);
  if (spoken) {
    auto send = n[0].send(1, out, tag{1});
    n.settle();
  }
  ending there(weft::proto::closed(n[0].to(1)));
  ending here(weft::proto::closed(n[1].to(0)));
  here.go();
  there.go();
  close(n[1], n[1].to(0));
  n.settle();
  CHECK(here.ends == 1);
  CHECK(there.ends == 1);
  CHECK(n[0].send(1, out, tag{1})->ended_with(errc::closed));
}

TEST_CASE("close: by both at once, and with links that have no room") {
  fake::settings s;
  s.room = 2;
  nodes n(2, s);
  const bytes small = pattern(10);
  std::vector<std::shared_ptr<sending>> sends;
  sends.push_back(n[0].send(1, small, tag{1}));
  sends.push_back(n[1].send(0, small, tag{1}));
  n.settle();
  for (int i = 0; i < 10; ++i) {
    sends.push_back(n[0].send(1, small, tag{1}));
    sends.push_back(n[1].send(0, small, tag{1}));
  }
  ending here(weft::proto::closed(n[0].to(1)));
  ending there(weft::proto::closed(n[1].to(0)));
  here.go();
  there.go();
  const bool both = GENERATE(true, false);
  close(n[0], n[0].to(1));
  if (both) close(n[1], n[1].to(0));
  n.settle();
  for (const auto& op : sends) CHECK(op->ends == 1);
  CHECK(here.ends == 1);
  CHECK(there.ends == 1);
}

TEST_CASE("close: waiting for the end can be cancelled") {
  nodes n(2);
  ending here(weft::proto::closed(n[0].to(1)));
  here.go();
  CHECK_FALSE(here.ended());
  here.cancel();
  n.settle();
  CHECK(here.ended_with(errc::stopped));
}

TEST_CASE("failure: what begins after the end of the context ends at once with errc::closed") {
  nodes n(3);
  const bytes out = pattern(100);
  bytes in(100);
  n[0].send(1, out, tag{1});
  n.settle();
  n[0].end();
  for (const fake::node known_or_not : {1u, 2u}) {
    CAPTURE(known_or_not);
    CHECK(n[0].send(known_or_not, out, tag{1})->ended_with(errc::closed));
    CHECK(n[0].recv(known_or_not, in, tag{1})->ended_with(errc::closed));
    ending closed(weft::proto::closed(n[0].to(known_or_not)));
    CHECK(closed.go().ends == 1);
  }
  CHECK(n[0].recv_any(in, any_tag)->ended_with(errc::closed));
  probing probe(probe_request{&n[0].messages, nullptr, any_tag});
  CHECK(probe.go().ended_with(errc::closed));
  CHECK(n[0].clean());
}

TEST_CASE("failure: what an ended send exposed is not read any more") {
  fake::settings s;
  s.memory = fake::memory::readable;
  nodes n(2, s);
  bytes out = pattern(100'000);
  bytes in(out.size());
  bytes nothing;
  n[0].send(1, nothing, tag{9});  // so that there is a link back
  n.settle();
  auto send = n[1].send(0, out, tag{1});
  n.settle();
  REQUIRE_FALSE(send->ended());
  n[1].end();
  REQUIRE(send->ended_with(errc::closed));
  std::fill(out.begin(), out.end(), std::byte{0});  // the buffer is the application's again
  auto receive = n[0].recv(1, in, tag{1});          // node 0 does not know of the end yet
  n.settle();
  CHECK_FALSE(receive->ended());
  peer& left = n[0].to(1);
  {
    const engine::holder hold(n[0].engine);
    left.end({errc::closed, "it has left"});
  }
  n.settle();
  CHECK(receive->ended_with(errc::closed));
}

TEST_CASE("failure: the end of the context gives back the budget of what nobody received") {
  nodes n(2);
  const std::uint32_t all = n[0].budget_left();
  const bytes out = pattern(100);
  n[1].send(0, out, tag{1});
  n[1].send(0, out, tag{2});
  n.settle();
  n[0].end();
  CHECK(n[0].budget_left() == all);
}

namespace {

/// An executor that checks whether any thread can take the progress lock while it is posted to.
class nosy final : public weft::executor {
 public:
  explicit nosy(engine& e) noexcept : engine_(e) {}
  void post(weft::operation& work) noexcept override {
    asked_.push_back(
        std::async(std::launch::async, [this] { const engine::holder hold(engine_); }));
    free_ = free_ && asked_.back().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    work.complete();
  }
  bool found_it_free() const noexcept { return free_; }

 private:
  engine& engine_;
  bool free_ = true;
  std::vector<std::future<void>> asked_;
};

}  // namespace

TEST_CASE("failure: what lives on another executor ends there, without the progress lock held") {
  nodes n(2);
  const bytes out = pattern(100);
  bytes in(100), never(100);
  nosy elsewhere(n[1].engine);
  receiving first(weft::recv_request{nullptr, &n[1].to(0), tag{1}, weft::mutable_buffer(in)});
  receiving second(weft::recv_request{nullptr, &n[1].to(0), tag{2}, weft::mutable_buffer(never)});
  first.on = second.on = &elsewhere;
  first.go();
  second.go();
  auto send = n[0].send(1, out, tag{1});
  n.settle();
  CHECK(first.ended_with(errc::ok));
  second.cancel();
  CHECK(second.ended_with(errc::stopped));
  CHECK(elsewhere.found_it_free());
}

TEST_CASE(
    "failure: a receive from anybody outlives senders; who wants to know waits for their end") {
  nodes n(3);
  const bytes out = pattern(100);
  bytes in(100);
  auto receive = n[0].recv_any(in, any_tag);
  auto hello = n[0].send(1, out, tag{1});
  n.settle();
  ending end(weft::proto::closed(n[0].to(1)));
  end.go();
  n.world.kill(1);
  n.settle();
  CHECK(end.ended());
  CHECK_FALSE(receive->ended());
  auto send = n[2].send(0, out, tag{1});
  n.settle();
  CHECK(receive->ended_with(errc::ok));
  CHECK(receive->got.source == 2);
}

TEST_CASE("failure: whoever is given up is told of, also when there was no memory to do so") {
  nodes n(2);
  peer& other = n[0].to(1);
  int asked = 0;
  n[0].connector.on_given_up = [&](peer& p) {
    CHECK(&p == &other);
    CHECK(p.now() == peer::state::lost);
    if (++asked < 3) throw std::bad_alloc();
  };
  {
    const engine::holder hold(n[0].engine);
    other.give_up(weft::errc::protocol_error, "it sent nonsense");
    other.give_up(weft::errc::out_of_memory, "it has ended already");
  }
  CHECK(asked == 1);
  for (int pass = 0; pass != 4; ++pass) n[0].engine.poll_once();
  CHECK(asked == 3);
}

TEST_CASE("failure: who is closed, or whose process is gone, is not told that it is given up") {
  nodes n(2);
  peer& other = n[0].to(1);
  int asked = 0;
  n[0].connector.on_given_up = [&](peer&) { ++asked; };
  const engine::holder hold(n[0].engine);
  if (GENERATE(true, false))
    other.give_up(weft::errc::closed, "it has left");
  else
    other.end({weft::errc::peer_lost, "its process died"});
  CHECK(asked == 0);
}
