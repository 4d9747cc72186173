// SPDX-License-Identifier: Apache-2.0
// A composite of two transports that move frames: each uses its own link, and the other stays when
// one breaks.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "transports/composite/factory.hpp"
#include "transports/fake/factory.hpp"

using namespace weft;
using namespace weft::transports;
using weft::runtime::engine;
using weft::tests::bytes;
using weft::tests::pattern;

namespace {

const fake::manner slow{.name = "slow", .shortest_way = fake::time(1'000'000)};
const fake::manner narrow{.name = "narrow", .room = 1, .max_payload = 1000};

/// Records the frames of one link.
struct rail final : frame_sink {
  bool on_frame(const frame_header& h, const frame_extension*,
                const std::byte* payload) noexcept override {
    frames.emplace_back(payload, payload + h.size);
    return true;
  }
  void on_writable() noexcept override { ++rooms; }
  void on_broken(errc) noexcept override { ++breaks; }

  std::vector<bytes> frames;
  std::unique_ptr<transports::link> out;
  int rooms = 0, breaks = 0;
};

/// A node with composite links.
struct end {
  end(fake::world& w, fake::node n) : turns(weft::progress_mode::polling, {}, "epoll", &w) {
    std::vector<std::unique_ptr<transport>> parts;
    for (const fake::manner& m : {slow, narrow}) parts.push_back(fake::make(w, n, turns, m));
    for (const auto& p : parts) turns.add(*p->poll_hook());
    both = composite::make("slow+narrow", std::move(parts));
  }
  ~end() {
    const engine::holder hold(turns);
    for (rail& l : rails) l.out.reset();
  }
  wireup_message offer(std::uint32_t number) {
    const engine::holder hold(turns);
    wireup_message p;
    rails[number].out = both->open(rails[number], {0, {}, number}, p);
    return p;
  }
  std::string accept(std::uint32_t number, wireup_message offer) {
    const engine::holder hold(turns);
    wireup_message answer;
    return both->accept(rails[number], {0, {}, number}, std::move(offer), answer);
  }
  post send(std::uint32_t number, const bytes& data) {
    const engine::holder hold(turns);
    return rails[number].out->send_contiguous({.size = static_cast<std::uint32_t>(data.size())},
                                              nullptr, data.data());
  }

  engine turns;
  std::unique_ptr<transport> both;
  std::array<rail, 2> rails;
};

struct two {
  fake::world world{{}};
  end a{world, 0}, b{world, 1};

  void connect() {
    for (const std::uint32_t n : {0u, 1u}) REQUIRE(b.accept(n, a.offer(n)).empty());
  }
};

}  // namespace

TEST_CASE("joint: the frames of each link go by its part, and come to its frame sink") {
  two x;
  x.connect();
  CHECK(x.a.both->traits().max_payload == 1000);
  CHECK(x.a.send(0, pattern(100, 1)) == post::done);
  CHECK(x.a.send(0, pattern(100, 2)) == post::done);
  CHECK(x.a.send(1, pattern(1000, 3)) == post::done);
  CHECK(x.a.send(1, pattern(1000, 4)) == post::busy);  // the room of the other one does not count
  x.world.run_until_quiet();
  CHECK(x.b.rails[0].frames == std::vector<bytes>{pattern(100, 1), pattern(100, 2)});
  CHECK(x.b.rails[1].frames == std::vector<bytes>{pattern(1000, 3)});
  CHECK(x.a.rails[0].rooms == 0);
  CHECK(x.a.rails[1].rooms == 1);
}

TEST_CASE("joint: what one part offers the other part does not take") {
  two x;
  CHECK_FALSE(x.b.accept(1, x.a.offer(0)).empty());
  CHECK_FALSE(x.b.accept(0, x.a.offer(1)).empty());
}

TEST_CASE("joint: a part that breaks leaves the others' links alone") {
  two x;
  x.connect();
  const std::uint32_t broken = GENERATE(0u, 1u);
  CAPTURE(broken);
  x.world.cut(0, 1, broken == 0 ? "slow" : "narrow");
  x.world.run_until_quiet();
  for (end* e : {&x.a, &x.b}) {
    CHECK(e->rails[broken].breaks == 1);
    CHECK(e->rails[1 - broken].breaks == 0);
  }
  CHECK(x.a.send(broken, pattern(100)) == post::failed);
  CHECK(x.a.send(1 - broken, pattern(100)) == post::done);
  x.world.run_until_quiet();
  CHECK(x.b.rails[1 - broken].frames.size() == 1);
}

TEST_CASE("joint: what is forgotten hears nothing any more, and what is on its way comes first") {
  two x;
  x.connect();
  CHECK(x.a.send(1, pattern(100)) == post::done);
  {
    const engine::holder hold(x.b.turns);
    x.b.both->forget(x.b.rails[1]);
  }
  const std::size_t came = x.b.rails[1].frames.size();
  x.a.send(1, pattern(100));
  CHECK(x.a.send(0, pattern(100)) == post::done);
  x.world.run_until_quiet();
  CHECK(x.b.rails[1].frames.size() == came);
  CHECK(x.b.rails[0].frames.size() == 1);
}
