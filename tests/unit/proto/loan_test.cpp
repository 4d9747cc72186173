// SPDX-License-Identifier: Apache-2.0
// Loans between messengers: what is read in place, what is copied, and when the memory is free.
#include <weft/loan.hpp>

#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <thread>

#include "hostile_frame_sink.hpp"
#include "proto/loans/loan_pool.hpp"

using namespace net;
using weft::lent;
using weft::lent_recv_request;
using weft::loan_send_request;
using weft::proto::frame_kind;
using weft::proto::loan_block;
using weft::proto::loan_pool;

namespace {

using lending = tracked<weft::loan_send_operation>;
using viewing = tracked<weft::lent_recv_operation<std::uint8_t>>;

/// Links that show memory in place.
fake::settings shared(fake::memory how = fake::memory::readable) {
  fake::settings s;
  s.memory = how;
  s.views = true;
  return s;
}

/// The pool of a node.
struct pool_of {
  explicit pool_of(side& s, std::size_t budget = 4u << 20) : pool(s.engine, budget) {
    memory = weft::runtime::map_private(pool.budget());
    pool.use({static_cast<std::byte*>(memory.get()), memory.size()});
  }
  weft::detail::loan_memory take(std::size_t size, std::uint8_t fill) {
    const engine::holder hold(pool.engine());
    loan_block* const b = pool.take(size);
    REQUIRE(b);
    std::memset(b->at, fill, size);
    return {*b, {b->at, size}};
  }
  std::size_t in_use() {
    const engine::holder hold(pool.engine());
    return pool.in_use();
  }
  bool is_whole() {
    const engine::holder hold(pool.engine());
    return pool.is_whole();
  }
  weft::runtime::mapping memory;
  loan_pool pool;
};

std::unique_ptr<lending> lend(side& from, fake::node to, weft::detail::loan_memory what,
                              tag t = tag{5}) {
  auto op = std::make_unique<lending>(loan_send_request{&from.to(to), t, 0, std::move(what)});
  op->go();
  return op;
}
std::unique_ptr<viewing> view(side& at, fake::node from, tag t = tag{5}) {
  auto op = std::make_unique<viewing>(
      lent_recv_request<std::uint8_t>{{nullptr, &at.to(from), t, weft::mutable_buffer{}}, {}});
  op->go();
  return op;
}
bool all_are(const lent<std::uint8_t>& v, std::uint8_t what, std::size_t size) {
  return v.size() == size && std::all_of(v.begin(), v.end(), [&](auto b) { return b == what; });
}

/// Nodes that have a link to each other: else the first loan would wait for one.
struct linked_nodes : nodes {
  explicit linked_nodes(fake::settings s) : nodes(2, s) {
    const bytes out(1);
    bytes in(1);
    for (const fake::node n : {0u, 1u}) {
      const auto r = (*this)[n].recv(1 - n, in, tag{1});
      (*this)[1 - n].send(n, out, tag{1});
      settle();
      REQUIRE(r->ended_with(errc::ok));
    }
  }
};

}  // namespace

TEST_CASE("loan: is read where it lies, and goes back when the view ends") {
  const std::size_t size = GENERATE(1u, 8u, 5000u, 300'000u);
  const bool posted = GENERATE(true, false);
  CAPTURE(size, posted);
  pool_of* mine = nullptr;
  linked_nodes n(shared());
  pool_of p(n[0]);
  mine = &p;
  auto memory = p.take(size, 7);
  const std::byte* const at = memory.bytes().data();
  std::unique_ptr<viewing> receive;
  if (posted) receive = view(n[1], 0);
  const auto send = lend(n[0], 1, std::move(memory));
  CHECK(send->ended_with(errc::ok));  // whatever the receiver does
  n.settle();
  if (!posted) receive = view(n[1], 0);
  n.settle();
  REQUIRE(receive->ended_with(errc::ok));
  {
    const auto v = receive->take();
    CHECK(v.in_place());
    CHECK(reinterpret_cast<const std::byte*>(v.data()) == at);
    CHECK(all_are(v, 7, size));
    CHECK(v.about().size == size);
    n.settle();
    CHECK(mine->in_use() == 1);
  }
  n.settle();
  CHECK(mine->is_whole());
  CHECK(n.clean());
  CHECK(n.world.shown() == 0);
}

TEST_CASE("loan: where the link shows nothing, or the receive only copies, it is copied") {
  const fake::memory how =
      GENERATE(fake::memory::hidden, fake::memory::readable, fake::memory::refused_late);
  const bool plain = GENERATE(true, false);
  const bool views = how == fake::memory::readable && GENERATE(true, false);
  const std::size_t size = GENERATE(0u, 100u, 70'000u, 300'000u);
  CAPTURE(static_cast<int>(how), plain, views, size);
  if (views && !plain) return;
  fake::settings s = shared(how);
  s.views = views;
  nodes n(2, s);
  pool_of p(n[0]);
  const auto send = lend(n[0], 1, p.take(size, 3));
  bytes in(size);
  std::shared_ptr<receiving> copies;
  std::unique_ptr<viewing> receive;
  if (plain)
    copies = n[1].recv(0, in, tag{5});
  else
    receive = view(n[1], 0);
  n.settle();
  CHECK(send->ended_with(errc::ok));
  if (plain) {
    REQUIRE(copies->ended_with(errc::ok));
    CHECK(std::all_of(in.begin(), in.end(), [](auto b) { return static_cast<int>(b) == 3; }));
  } else {
    REQUIRE(receive->ended_with(errc::ok));
    const auto v = receive->take();
    CHECK_FALSE(v.in_place());
    CHECK(all_are(v, 3, size));
  }
  n.settle();
  CHECK(p.is_whole());
  CHECK(n.clean());
}

TEST_CASE("loan: a receiver that dies gives back what it reads, and what it has not taken") {
  linked_nodes n(shared());
  pool_of p(n[0]);
  auto first = view(n[1], 0);
  const auto a = lend(n[0], 1, p.take(5000, 1)), b = lend(n[0], 1, p.take(5000, 2));
  n.settle();
  REQUIRE(first->ended_with(errc::ok));
  auto held = std::make_optional(first->take());
  CHECK(held->in_place());
  CHECK(p.in_use() == 2);
  n.world.kill(1);
  n.settle();
  CHECK(p.is_whole());
  CHECK(n[0].clean());
  held.reset();
}

TEST_CASE("loan: several receivers read one block, which is free when the last view has ended") {
  const std::size_t size = GENERATE(1u, 5000u, 300'000u);
  CAPTURE(size);
  nodes n(4, shared());
  for (fake::node to = 1; to != 4; ++to) {
    const bytes out(1);
    bytes in(1);
    const auto r = n[to].recv(0, in, tag{1});
    n[0].send(to, out, tag{1});
    const auto back = n[0].recv(to, in, tag{1});
    n[to].send(0, out, tag{1});
    n.settle();
    REQUIRE(r->ended_with(errc::ok));
    REQUIRE(back->ended_with(errc::ok));
  }
  pool_of p(n[0]);
  auto mine = p.take(size, 9);
  std::vector<std::unique_ptr<viewing>> receives;
  for (fake::node to = 1; to != 4; ++to) {
    CHECK(lend(n[0], to, mine.share())->ended_with(errc::ok));
    receives.push_back(view(n[to], 0));
  }
  n.settle();
  std::vector<lent<std::uint8_t>> views;
  for (const auto& r : receives) {
    REQUIRE(r->ended_with(errc::ok));
    views.push_back(r->take());
    CHECK(views.back().in_place());
    CHECK(reinterpret_cast<const std::byte*>(views.back().data()) == mine.bytes().data());
    CHECK(all_are(views.back(), 9, size));
  }
  CHECK(p.in_use() == 1);
  mine = {};
  views.erase(views.begin());
  n.settle();
  CHECK(p.in_use() == 1);
  n.world.kill(3);
  n.settle();
  CHECK(p.in_use() == 1);
  views.erase(views.begin());
  n.settle();
  CHECK(p.is_whole());
  CHECK(n[0].clean());
}

TEST_CASE("loan: of a shared one that is not taken, or not sent, nothing is left") {
  linked_nodes n(shared());
  pool_of p(n[0]);
  auto mine = p.take(5000, 2);
  {
    const auto never_awaited = mine.share();
    CHECK(lend(n[0], 1, mine.share())->ended_with(errc::ok));
    CHECK(lend(n[0], 1, mine.share())->ended_with(errc::ok));
    auto first = view(n[1], 0);
    bytes copy(5000);
    const auto second = n[1].recv(0, copy, tag{5});
    n.settle();
    REQUIRE(first->ended_with(errc::ok));
    REQUIRE(second->ended_with(errc::ok));
    CHECK(first->take().in_place());
    CHECK(static_cast<int>(copy.back()) == 2);
  }
  n.settle();
  CHECK(p.in_use() == 1);
  mine = {};
  CHECK(p.is_whole());
  CHECK_FALSE(weft::detail::loan_memory().share().block());
}

TEST_CASE("loan: a view outlives its sender, its connection and its messenger") {
  std::optional<lent<std::uint8_t>> v;
  pool_of* p = nullptr;
  std::optional<pool_of> owner;
  {
    linked_nodes n(shared());
    owner.emplace(n[0]);
    p = &*owner;
    auto receive = view(n[1], 0);
    const auto send = lend(n[0], 1, p->take(5000, 9));
    n.settle();
    REQUIRE(receive->ended_with(errc::ok));
    v.emplace(receive->take());
    const int end = GENERATE(0, 1, 2);
    if (end == 0) n.world.kill(0);
    if (end == 1) n[1].to(0).close();
    n.settle();
    CHECK(all_are(*v, 9, 5000));
    if (end == 0) {
      v.reset();
      n.settle();
    } else if (end == 1) {
      std::thread([&] { v.reset(); }).join();
      n.settle();
      CHECK(p->is_whole());
    }
  }
  if (v) CHECK(all_are(*v, 9, 5000));
  std::thread([&] { v.reset(); }).join();
}

TEST_CASE("loan: a send that waits for its link is stopped, and its memory is free") {
  nodes n(2, shared());
  pool_of p(n[0]);
  n.links_allowed = false;
  const auto first = lend(n[0], 1, p.take(5000, 1)), second = lend(n[0], 1, p.take(5000, 2));
  n.settle();
  CHECK_FALSE(first->ended());
  first->cancel();
  n.settle();
  CHECK(first->ended_with(errc::stopped));
  CHECK(p.in_use() == 1);
  n.links_allowed = true;
  const auto receive = view(n[1], 0);
  n.settle();
  CHECK(second->ended_with(errc::ok));
  REQUIRE(receive->ended_with(errc::ok));
  CHECK(all_are(receive->take(), 2, 5000));
  n.settle();
  CHECK(p.is_whole());
  CHECK(n.clean());
}

TEST_CASE("loan: a loan of another lane, or none, is not sent") {
  nodes n(2, shared());
  pool_of other(n[1]);
  CHECK(lend(n[0], 1, other.take(10, 1))->ended_with(errc::invalid_argument));
  CHECK(lend(n[0], 1, {})->ended_with(errc::invalid_argument));
  CHECK(other.is_whole());
}

TEST_CASE("loan: receives that are stopped, and that do not want it, leave no memory behind") {
  linked_nodes n(shared());
  pool_of p(n[0]);
  const auto stopped = view(n[1], 0);
  stopped->cancel();
  n.settle();
  CHECK(stopped->ended_with(errc::stopped));
  viewing small(lent_recv_request<std::uint8_t>{
      {nullptr, &n[1].to(0), tag{5}, weft::mutable_buffer{}}, {99}});
  const bool before = GENERATE(true, false);
  if (before) small.go();
  lend(n[0], 1, p.take(100, 1));
  n.settle();
  if (!before) small.go();
  n.settle();
  CHECK(small.ended_with(errc::truncated));
  CHECK(p.is_whole());
  CHECK(n.clean());
}

TEST_CASE("loan: messages of all kinds at random leave the pool whole, and come in order") {
  const auto seed = GENERATE(range(0u, 30u));
  CAPTURE(seed);
  std::mt19937 dice(seed);
  fake::settings s = shared();
  s.seed = seed + 1;
  s.room = 4;
  s.later = dice() % 2 == 0;
  nodes n(2, s);
  pool_of p(n[0], 1u << 20);
  std::deque<std::unique_ptr<lending>> sends;
  std::deque<std::pair<std::unique_ptr<viewing>, std::uint8_t>> receives;
  std::vector<lent<std::uint8_t>> views;
  std::uint8_t sent = 0, wanted = 0;
  std::deque<std::size_t> sizes;
  const auto collect = [&] {
    while (!receives.empty() && receives.front().first->ended()) {
      REQUIRE(receives.front().first->ended_with(errc::ok));
      views.push_back(receives.front().first->take());
      REQUIRE(all_are(views.back(), receives.front().second, sizes.front()));
      sizes.pop_front();
      receives.pop_front();
    }
  };
  for (int step = 0; step != 200; ++step) {
    const std::size_t size = dice() % (dice() % 2 == 0 ? 300u : 100'000u);
    switch (dice() % 5) {
      case 0: {
        loan_block* b = nullptr;
        {
          const engine::holder hold(n[0].engine);
          b = p.pool.take(size);
        }
        if (!b) break;
        std::memset(b->at, ++sent, size);
        sizes.push_back(size);
        sends.push_back(lend(n[0], 1, {*b, {b->at, size}}));
        break;
      }
      case 1:
        receives.emplace_back(view(n[1], 0), ++wanted);
        break;
      case 2:
        if (!views.empty())
          views.erase(views.begin() + static_cast<std::ptrdiff_t>(dice() % views.size()));
        break;
      case 3:
        n.step();
        break;
      default:
        n.settle();
    }
    if (dice() % 4 == 0) collect();
  }
  while (wanted < sent) receives.emplace_back(view(n[1], 0), ++wanted);
  n.settle();
  collect();
  while (!receives.empty()) {
    receives.back().first->cancel();
    n.settle();
    receives.pop_back();
  }
  views.clear();
  n.settle();
  for (const auto& one : sends) CHECK(one->ended_with(errc::ok));
  CHECK(p.is_whole());
  CHECK(n.clean());
}

// --- peers that lie
// -------------------------------------------------------------------------------

TEST_CASE("hostile: a loan at a place that there is not is asked for, as any message") {
  frame_sink_attack a(shared());
  const std::uint64_t where = GENERATE(std::uint64_t{1}, std::uint64_t{7} << 48,
                                       (std::uint64_t{7} << 48) | 0xffff'ffff'ffffu);
  a.swallow(100);
  auto receive = view(a.n[0], 2);
  REQUIRE(a.frame(frame_kind::rts, 0, weft::proto::lends | weft::proto::eager_ends,
                  {numbered(1, 1000), where}));
  a.n.settle();
  CHECK_FALSE(receive->ended());
  CHECK(a.n[0].messages.snapshot().loans_viewed == 0);
  a.n[0].end();
  CHECK(receive->ended_with(errc::closed));
}

TEST_CASE("hostile: answers to a loan that no receiver gives end the connection") {
  linked_nodes n(shared());
  pool_of p(n[0]);
  lend(n[0], 1, p.take(100, 1));
  weft::transports::frame_sink& sink = n[0].to(1);
  const auto frame = [&](frame_kind kind, std::uint64_t id) {
    const auto h = weft::proto::header_of(kind, 0, 0, weft::transports::has_extension);
    const weft::proto::frame_extension x{id, 0, 0};
    const engine::holder hold(n[0].engine);
    return sink.on_frame(h, &x, nullptr);
  };
  SECTION("another kind of answer") {
    CHECK_FALSE(frame(frame_kind::matched, 1));
    CHECK_FALSE(frame(frame_kind::cancelled, 1));
    CHECK(p.in_use() == 1);
  }
  SECTION("an answer twice: the block is free once") {
    CHECK(frame(frame_kind::fin_ack, 1));
    CHECK(p.in_use() == 0);
    CHECK_FALSE(frame(frame_kind::fin_ack, 1));
    CHECK(p.is_whole());
  }
  SECTION("a number that no message has") { CHECK_FALSE(frame(frame_kind::fin_ack, 77)); }
  {
    const engine::holder hold(n[0].engine);
    sink.on_broken(errc::protocol_error);
  }
  n.settle();
  CHECK(p.is_whole());
}
