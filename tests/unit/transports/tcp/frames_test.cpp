// SPDX-License-Identifier: Apache-2.0
// Frames over a TCP connection: whole, in order, without more system calls and copies than needed.
#include <algorithm>
#include <array>

#include "ends.hpp"

using namespace ends;

namespace {

frame_header numbered(std::uint64_t n) { return {n, 0, 1, 0, 0}; }

/// Sends, polling both ends while there is no room.
void send(end& a, end& b, frame_header h, const bytes& data, const frame_extension* x = nullptr) {
  post answer = post::busy;
  REQUIRE(eventually({&a, &b}, [&] { return (answer = a.send(h, data, x)) != post::busy; }));
  REQUIRE(answer == post::done);
}

}  // namespace

TEST_CASE("tcp: frames of all sizes arrive as they were sent, both ways over one connection") {
  const char* const set = GENERATE("auto", "epoll");
  end a({"lo"}, set), b({"lo"}, set);
  connect(a, b);
  connect(b, a);
  const std::array<std::size_t, 9> sizes{
      0, 1, 64, 4096, 8192, 8193, 65'536, 100'000, tcp::max_payload};
  for (end* from : {&a, &b}) {
    end& to = from == &a ? b : a;
    for (const std::size_t size : sizes) {
      const frame_extension x{size, ~std::uint64_t{size}};
      frame_header h = numbered(size);
      send(*from, to, h, pattern(size, size));
      h.flags = has_extension;
      send(*from, to, h, pattern(size, size + 1), &x);
    }
    REQUIRE(eventually({&a, &b}, [&] { return to.in.frames.size() == 2 * sizes.size(); }));
    for (std::size_t i = 0; i != 2 * sizes.size(); ++i) {
      const recorder::frame& f = to.in.frames[i];
      const std::size_t size = sizes[i / 2];
      CHECK(f.header.tag == size);
      CHECK((f.payload == pattern(size, size + i % 2)));
      CHECK(f.extension.has_value() == (i % 2 == 1));
      if (f.extension) CHECK(f.extension->b == ~std::uint64_t{size});
    }
  }
  check_is_one_connection(a, b);
}

TEST_CASE("tcp: a burst of small frames leaves and arrives in few system calls") {
  end a, b;
  connect(a, b);
  send(a, b, numbered(0), {});
  REQUIRE(eventually({&a, &b}, [&] { return b.in.frames.size() == 1; }));
  a.turns.poll_once();
  constexpr std::uint64_t burst = 200;
  {
    // As a coroutine that sends without waiting does.
    const engine::inside leads(a.turns);
    const engine::holder hold(a.turns);
    const bytes data = pattern(64);
    for (std::uint64_t i = 1; i <= burst; ++i) {
      frame_header h = numbered(i);
      h.size = 64;
      REQUIRE(a.link->send_contiguous(h, nullptr, data.data()) == post::done);
    }
    a.link->wake_peer();
  }
  // Every pass of b reads once.
  int reads = 0;
  for (std::size_t before = 1; b.in.frames.size() != burst + 1; before = b.in.frames.size()) {
    REQUIRE(eventually({&b}, [&] { return b.in.frames.size() != before; }));
    ++reads;
  }
  CHECK(reads <= 4);
  for (std::uint64_t i = 0; i <= burst; ++i) CHECK(b.in.frames[i].header.tag == i);
}

TEST_CASE("tcp: whoever posts where nobody polls has every frame sent at once") {
  end a, b;
  connect(a, b);
  send(a, b, numbered(0), {});
  for (std::uint64_t i = 1; i != 10; ++i) REQUIRE(a.send(numbered(i), {}) == post::done);
  REQUIRE(eventually({&b}, [&] { return b.in.frames.size() == 10; }));
}

TEST_CASE("tcp: a payload is read to where its receive wants it") {
  end a, b;
  connect(a, b);
  const bytes out = pattern(200'000, 7);
  b.in.room.resize(GENERATE(200'000u, 150'000u));  // the rest of the second message is dropped
  b.in.piece = GENERATE(~std::size_t{0}, std::size_t{9'999});
  send(a, b, numbered(1), out);
  send(a, b, numbered(2), pattern(10));
  REQUIRE(eventually({&a, &b}, [&] { return b.in.frames.size() == 2; }));
  CHECK(std::equal(b.in.room.begin(), b.in.room.end(), out.begin()));
  CHECK((b.in.frames[1].payload == pattern(10)));
}

TEST_CASE("tcp: a receive that ends in the middle of a payload is not written to any more") {
  end a, b;
  connect(a, b);
  b.in.room.resize(tcp::max_payload);
  b.in.piece = 5000;
  const bytes out = pattern(tcp::max_payload, 3);
  REQUIRE(eventually({&a, &b}, [&] { return a.send(numbered(1), out) == post::done; }));
  a.turns.poll_once();
  REQUIRE(eventually({&b}, [&] { return b.in.room[4999] == out[4999]; }));
  bytes().swap(b.in.room);
  send(a, b, numbered(2), pattern(10));
  REQUIRE(eventually({&a, &b}, [&] { return b.in.frames.size() == 2; }));
  CHECK(b.in.frames[0].placed);
  CHECK((b.in.frames[1].payload == pattern(10)));
}

TEST_CASE("tcp: a peer that reads nothing stops the sender, whose memory is held once") {
  end a, b;
  connect(a, b);
  const bytes out = pattern(tcp::max_payload, 5);
  const const_buffer one(out);
  frame_header h = numbered(1);
  h.size = static_cast<std::uint32_t>(out.size());
  REQUIRE(eventually({&a, &b}, [&] { return connection(a).find(" to ") != std::string::npos; }));
  std::size_t taken = 0;
  post answer = post::done;
  const auto post_large = [&] {
    const engine::holder hold(a.turns);
    gather pieces({&one, 1});
    return a.link->send_large(h, nullptr, pieces, h.size);
  };
  for (; taken != 1000 && (answer = post_large()) == post::done; ++taken) {
  }
  REQUIRE(answer == post::posted);
  ++taken;
  CHECK(a.link->holds());
  CHECK(post_large() == post::busy);
  CHECK(a.send(numbered(2), pattern(8)) == post::busy);
  const bool let_go = GENERATE(false, true);
  if (let_go) {
    const engine::holder hold(a.turns);
    a.link->let_go();
    CHECK_FALSE(a.link->holds());
  }
  a.in.rooms = 0;
  REQUIRE(eventually({&a, &b}, [&] { return a.in.rooms != 0; }));
  CHECK_FALSE(a.link->holds());
  send(a, b, numbered(2), pattern(8));
  REQUIRE(eventually({&a, &b}, [&] { return b.in.frames.size() == taken + 1; }));
  for (std::size_t i = 0; i != taken; ++i) CHECK((b.in.frames[i].payload == out));
}
