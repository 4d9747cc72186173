// SPDX-License-Identifier: Apache-2.0
// The qdma device as applications use it, between contexts of one process.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include <weft/qdma.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

options lone() {
  options o = options::from_environment();
  o.standalone = true;
  return o;
}

/// Two connected contexts. A thread is inside run() of the second one only to set it up.
struct card_pair {
  card_pair() : first(lone()), second(lone()) {
    one.emplace(qdma::device::open(first));
    two.emplace(run(second, qdma::device::join(second, one->where())));
  }
  context first, second;
  std::optional<qdma::device> one, two;
};

const_buffer text(std::string_view t) { return std::as_bytes(std::span(t)); }

TEST_CASE("qdma: a message to a process whose application sleeps, and one back", "[qdma]") {
  card_pair p;
  CHECK(p.one->self() != p.two->self());
  CHECK(p.two->knows(p.one->self()));
  qdma::queue in = p.two->open_queue(), back = p.one->open_queue();
  // The second one answers by a chain: its event counts the arrived messages.
  qdma::event asked = p.two->make_event(2, true);
  asked.on_trigger(qdma::post(back.id(), text("twice")));
  p.one->start(qdma::signal(asked.id()).then(qdma::signal(asked.id())));
  std::array<std::byte, 16> box{};
  const qdma::posted_message m =
      run(p.first, [](qdma::queue& q, mutable_buffer into) -> task<qdma::posted_message> {
        co_return co_await q.receive(into);
      }(back, box));
  CHECK(m.from == p.two->self());
  CHECK(m.size == 5);
  p.one->start(qdma::post(in.id(), text("kept")));
  run(p.second, [](qdma::queue& q, mutable_buffer into) -> task<void> {
    static_cast<void>(co_await q.receive(into));
  }(in, box));
  CHECK(box[0] == std::byte{'k'});
}

TEST_CASE("qdma: copies chained to signals, both directions", "[qdma]") {
  card_pair p;
  constexpr std::size_t size = 1u << 20;
  qdma::region mine = p.one->allocate(size, qdma::rights::none);
  qdma::region theirs = p.two->allocate(size, qdma::rights::read_write);
  std::ranges::fill(mine.bytes(), std::byte{1});
  qdma::event done = p.one->make_event();
  p.one->start(qdma::rdma_write(mine, 0, theirs.id(), 0, size)
                   .then(qdma::rdma_read(mine, 0, theirs.id(), size / 2, size / 2))
                   .then(qdma::signal(done.id())));
  const auto wait = [](const qdma::event& e) -> task<void> { co_await e; };
  run(p.first, wait(done));
  CHECK(std::ranges::count(theirs.bytes(), std::byte{1}) == size);

  done.arm(1);
  p.one->start(qdma::rdma_write(mine, 1, theirs.id(), 0, size).then(qdma::signal(done.id())));
  CHECK_THROWS_WITH(run(p.first, wait(done)), weft::tests::contains("beyond the end"));
}

TEST_CASE("qdma: waiting can be stopped, by a deadline", "[qdma]") {
  card_pair p;
  const qdma::event never = p.one->make_event();
  const qdma::queue empty = p.one->open_queue();
  std::array<std::byte, 4> box{};
  CHECK_THROWS_AS(
      run(p.first,
          [](const qdma::event& e) -> task<void> { co_await within(1ms, e.triggered()); }(never)),
      error);
  CHECK_THROWS_AS(run(p.first,
                      [](const qdma::queue& q, mutable_buffer b) -> task<void> {
                        co_await within(1ms, q.receive(b));
                      }(empty, box)),
                  error);
}

TEST_CASE("qdma: what cannot be is said", "[qdma]") {
  card_pair p;
  CHECK_THROWS_WITH(qdma::device::open(p.first), weft::tests::contains("already"));
  CHECK_THROWS_WITH(run(p.first, qdma::device::join(p.first, {})),
                    weft::tests::contains("no address of a qdma device"));
  CHECK_THROWS_WITH(run(p.first, p.one->meet(qdma::process{12345678})),
                    weft::tests::contains("no process has the id"));
  const std::vector<std::byte> much(qdma::max_post + 1);
  CHECK_THROWS_WITH(qdma::post({p.two->self(), 1}, much), weft::tests::contains("does not fit"));
  CHECK_THROWS_WITH(qdma::post({p.two->self(), 0}, {}), weft::tests::contains("no queue 0"));
  const qdma::queue a = p.one->open_queue(), b = p.one->open_queue(), c = p.one->open_queue();
  CHECK_THROWS_WITH(p.one->open_queue(), weft::tests::contains("three queues"));
}

TEST_CASE("qdma: a context that ends is lost to others, and its id is nobody's", "[qdma]") {
  context host(lone());
  qdma::device d = qdma::device::open(host);
  qdma::process gone{};
  qdma::event e = d.make_event();
  {
    context guest(lone());
    gone = run(guest, qdma::device::join(guest, d.where())).self();
    e.depends_on(gone);
  }
  CHECK_THROWS_WITH(run(host, [](const qdma::event& ev) -> task<void> { co_await ev; }(e)),
                    weft::tests::contains("has ended"));
  CHECK_FALSE(d.knows(gone));
  CHECK_THROWS_AS(run(host, d.meet(gone)), error);
}

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// So many processes join, send a message, and leave; others stay.
void come_and_go(int how_many) {
  context host(lone());
  qdma::device d = qdma::device::open(host);
  qdma::queue in = d.open_queue();
  std::array<std::byte, 16> box{};
  std::size_t before = 0;
  qdma::process last{};
  for (int i = 0; i != how_many; ++i) {
    {
      context guest(lone());
      qdma::device mine = run(guest, qdma::device::join(guest, d.where()));
      last = mine.self();
      mine.start(qdma::post(in.id(), text("here")));
      run(host, [](qdma::queue& q, mutable_buffer into) -> task<void> {
        static_cast<void>(co_await q.receive(into));
      }(in, box));
    }
    // The end of a process was seen when nothing of it is left.
    qdma::event over = d.make_event();
    over.depends_on(last);
    try {
      run(host, [](const qdma::event& e) -> task<void> { co_await e; }(over));
    } catch (const error& e) {
      REQUIRE(e.kind() == errc::peer_lost);
    }
    if (i == 2) before = descriptors();
  }
  CHECK(d.describe().find(" 0 met") != std::string::npos);
  // Watched objects are freed when the sleeping thread wakes next.
  for (int tries = 0; tries != 1000 && descriptors() > before + 2; ++tries)
    run(host, sleep_for(1ms));
  CHECK(descriptors() <= before + 2);
}

TEST_CASE("qdma: contexts come and go, and nothing is left of them", "[qdma]") { come_and_go(50); }

TEST_CASE("qdma: contexts come and go ten thousand times", "[qdma][.soak]") { come_and_go(10'000); }

}  // namespace
