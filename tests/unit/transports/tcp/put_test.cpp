// SPDX-License-Identifier: Apache-2.0
// Puts over a TCP connection: into the memory that the receiver expects them in, and only there;
// the sender's memory is free when the receiver has read it, also if that is never.
#include <array>
#include <optional>

#include <sys/socket.h>

#include "ends.hpp"
#include "transports/tcp/link.hpp"
#include "transports/tcp/peer_backlog.hpp"

using namespace ends;

namespace {

frame_header frame_number(std::uint64_t n) { return {n, 0, 1, 0, 0}; }

/// Two ends that can send to each other: lent memory needs answers.
struct both {
  end a, b;
  /// \param hosts of the counterparts, as `end::hosts`
  explicit both(const std::vector<std::string>& hosts = {}) {
    a.hosts = b.hosts = hosts;
    connect(a, b);
    connect(b, a);
    REQUIRE(eventually({&a, &b}, [&] { return connection(a).find(" to ") != std::string::npos; }));
  }
};

remote_address expect(end& e, mutable_buffer into) {
  const engine::holder hold(e.turns);
  const auto where = e.link->expect(into);
  REQUIRE(where);
  return *where;
}

post put(end& e, std::span<const const_buffer> parts, remote_address to, std::size_t size,
         std::uint64_t cookie) {
  const engine::holder hold(e.turns);
  return e.link->put(gather(parts), to, size, cookie);
}

/// \param data outlives the put, as the parts of an operation do
post put(end& e, const const_buffer& data, remote_address to, std::uint64_t cookie = 1) {
  return put(e, {&data, 1}, to, data.size(), cookie);
}

bool sent(end& e, std::uint64_t n) { return e.send(frame_number(n), pattern(8)) == post::done; }

}  // namespace

TEST_CASE("tcp: a put arrives where it is expected, before the frames behind it") {
  both x;
  const std::size_t size =
      GENERATE(std::size_t{1}, std::size_t{70'000}, tcp::shortest_put, std::size_t{tcp::max_write},
               std::size_t{3} * tcp::max_write + 5);
  const bytes out = pattern(size, 11);
  bytes in(size + 100, std::byte{0x77});
  remote_address to = expect(x.b, in);
  to.offset += 50;
  const std::array<const_buffer, 2> parts{const_buffer(out).first(size / 3),
                                          const_buffer(out).subspan(size / 3)};
  const post answer = put(x.a, parts, to, size, 42);
  REQUIRE((answer == post::done || answer == post::posted));
  REQUIRE(eventually({&x.a, &x.b}, [&] { return sent(x.a, 1); }));
  REQUIRE(eventually({&x.a, &x.b}, [&] { return x.b.in.frames.size() == 1; }));
  CHECK(std::equal(out.begin(), out.end(), in.begin() + 50));
  CHECK(std::all_of(in.begin(), in.begin() + 50, [](std::byte c) { return c == std::byte{0x77}; }));
  CHECK(std::all_of(in.end() - 50, in.end(), [](std::byte c) { return c == std::byte{0x77}; }));
  if (answer == post::posted)
    REQUIRE(eventually({&x.a, &x.b}, [&] { return x.a.in.transferred.size() == 1; }));
  CHECK(x.a.in.transferred == std::vector<std::uint64_t>(answer == post::posted, 42));
}

TEST_CASE("tcp: a frame that finds no room behind a put learns when there is some") {
  both x;
  int without_room = 0;
  // Of several sizes, so that at times the last bytes of a put are sealed before the socket takes
  // them.
  for (std::size_t size = 2 << 20; size < (10 << 20); size += 333'007) {
    CAPTURE(size);
    const bytes out = pattern(size, 11);
    bytes in(size);
    const const_buffer whole(out);
    const std::size_t ended = x.a.in.transferred.size();
    const bool posted = put(x.a, whole, expect(x.b, in)) == post::posted;
    if (x.a.send({}, pattern(8)) == post::busy) {
      ++without_room;
      const int before = x.a.in.rooms;
      REQUIRE(eventually({&x.a, &x.b}, [&] { return x.a.in.rooms != before; }));
    }
    REQUIRE(eventually({&x.a, &x.b}, [&] { return in == out; }));
    REQUIRE(
        eventually({&x.a, &x.b}, [&] { return !posted || x.a.in.transferred.size() != ended; }));
  }
  CHECK(without_room > 0);
}

TEST_CASE("tcp: lent memory is free when the peer has read it", "[bare]") {
  both x;
  const bytes out = pattern(tcp::shortest_put, 3);
  const const_buffer whole(out);
  bytes in(2 * out.size());
  remote_address to = expect(x.b, in);
  REQUIRE(put(x.a, whole, to, 1) == post::posted);
  to.offset += out.size();
  REQUIRE(put(x.a, whole, to, 2) == post::posted);
  for (int i = 0; i != 1000; ++i) x.a.turns.poll_once();
  CHECK(x.a.in.transferred.empty());
  CHECK_FALSE(x.a.link->holds());  // frames need not wait for it
  REQUIRE(eventually({&x.a, &x.b}, [&] { return x.a.in.transferred.size() == 2; }));
  CHECK(x.a.in.transferred == std::vector<std::uint64_t>{1, 2});
  CHECK(std::equal(out.begin(), out.end(), in.begin()));
}

TEST_CASE("tcp: memory is lent only to who was met over a Unix socket", "[bare]") {
  const both met_there, met_over_tcp({"127.0.0.1"});
  constexpr std::size_t size = 1 << 20;
  CHECK(met_there.a.link->longest_beginning(size) < size);  // the rest is lent
  CHECK(met_over_tcp.a.link->longest_beginning(size) > size);
}

TEST_CASE("tcp: puts and frames cross in both directions at once") {
  both x;
  const bytes out = pattern(5 * tcp::max_write, 9);
  const const_buffer whole(out);
  bytes in_a(out.size()), in_b(out.size());
  REQUIRE(put(x.a, whole, expect(x.b, in_b)) == post::posted);
  REQUIRE(put(x.b, whole, expect(x.a, in_a)) == post::posted);
  CHECK(put(x.a, whole, {1, 0}) == post::busy);
  CHECK(x.a.send(frame_number(1), pattern(8)) == post::busy);
  REQUIRE(eventually({&x.a, &x.b}, [&] {
    return x.a.in.transferred.size() == 1 && x.b.in.transferred.size() == 1;
  }));
  REQUIRE(eventually({&x.a, &x.b}, [&] { return in_a == out && in_b == out; }));
  CHECK(x.a.in.rooms != 0);
  REQUIRE(eventually({&x.a, &x.b}, [&] { return sent(x.a, 1); }));
}

TEST_CASE("tcp: a put to memory that was withdrawn is dropped", "[bare]") {
  both x;
  const bytes out = pattern(2 * tcp::max_write, 5);
  const const_buffer whole(out);
  bytes in(out.size());
  const remote_address to = expect(x.b, in);
  REQUIRE(put(x.a, whole, to) == post::posted);
  const bool at_once = GENERATE(true, false);
  if (!at_once) REQUIRE(eventually({&x.a, &x.b}, [&] { return in[100] == out[100]; }));
  {
    const engine::holder hold(x.b.turns);
    x.b.link->withdraw(to);
  }
  const bytes before = in;
  bytes other(100);
  CHECK(expect(x.b, other).region == to.region);  // its number now has less memory
  if (at_once) {
    // A correct peer has nothing under way then: the write is beyond the memory of that name.
    REQUIRE(eventually({&x.a, &x.b}, [&] { return !x.b.in.broken.empty(); }));
    CHECK(x.b.in.broken.front() == errc::protocol_error);
  } else {
    x.a.turns.poll_once();
    for (int i = 0; i != 100; ++i) x.b.turns.poll_once();
  }
  CHECK(in == before);
  CHECK((other == bytes(100)));
}

TEST_CASE(
    "tcp: a peer that writes outside of the memory that it was granted, or answers unasked, is cut "
    "off") {
  both x;
  bytes in(1000);
  const remote_address to = expect(x.b, in);
  const bytes out = pattern(1001);
  const const_buffer one_byte(out.data(), 1), few(out.data(), 64), too_many(out);
  SECTION("beyond the end") { CHECK(put(x.a, too_many, to) == post::done); }
  SECTION("from behind the end on") { CHECK(put(x.a, one_byte, {to.region, 1000}) == post::done); }
  SECTION("an offset that overflows") {
    CHECK(put(x.a, few, {to.region, (std::uint64_t{1} << 48) - 1}) == post::done);
  }
  SECTION("it says that it has read what was not lent to it") {
    frame_header h = frame_number(1);
    h.kind = static_cast<std::uint8_t>(tcp::own_kind::have_read);
    CHECK(x.a.send(h, {}) == post::done);
  }
  SECTION("an unknown frame of the transport's own") {
    frame_header h = frame_number(1);
    h.kind = 0xff;
    CHECK(x.a.send(h, {}) == post::done);
  }
  REQUIRE(eventually({&x.a, &x.b}, [&] { return !x.b.in.broken.empty(); }));
  CHECK(x.b.in.broken.front() == errc::protocol_error);
  CHECK((in == bytes(1000)));
}

TEST_CASE("tcp: a peer that says that it has read what has not left yet is cut off") {
  both x;
  const bytes out = pattern(12 * tcp::max_write, 3);
  const const_buffer whole(out);
  bytes in(out.size());
  REQUIRE(put(x.a, whole, expect(x.b, in)) == post::posted);  // the socket has not room for all
  frame_header h = frame_number(1);
  h.kind = static_cast<std::uint8_t>(tcp::own_kind::have_read);
  CHECK(x.b.send(h, {}) == post::done);
  REQUIRE(eventually({&x.a}, [&] { return !x.a.in.broken.empty(); }));
  CHECK(x.a.in.broken.front() == errc::protocol_error);
  CHECK(x.a.in.transferred.empty());
}

TEST_CASE("tcp: an answer counts before the frames behind it", "[bare]") {
  both x;
  const bytes out = pattern(tcp::shortest_put, 3);
  const const_buffer whole(out);
  bytes in(out.size());
  REQUIRE(put(x.a, whole, expect(x.b, in), 7) == post::posted);
  REQUIRE(eventually({&x.b}, [&] { return in == out; }));  // and x.a has not read its answer
  REQUIRE(sent(x.b, 1));
  std::size_t transferred_before = 0;
  x.a.in.when_frame = [&] { transferred_before = x.a.in.transferred.size(); };
  REQUIRE(eventually({&x.a, &x.b}, [&] { return x.a.in.frames.size() == 1; }));
  CHECK(transferred_before == 1);
}

TEST_CASE("tcp: what a kernel does not answer is not taken for read") {
  // Two connected sockets of another family: sock_diag finds none of TCP.
  int both[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0);
  const unique_fd one(both[0]), other(both[1]);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  CHECK_FALSE(tcp::await_read_by_peer(one.get(), until));
}

TEST_CASE("tcp: a side that ends takes lent memory back from a peer that has not read it",
          "[bare]") {
  both x;
  bytes out = pattern(tcp::shortest_put, 3);
  const const_buffer whole(out);
  bytes in(out.size());
  REQUIRE(put(x.a, whole, expect(x.b, in)) == post::posted);
  REQUIRE(sent(x.a, 1));  // as the frame that ends the message
  const bool reads = GENERATE(true, false);
  if (reads) REQUIRE(eventually({&x.b}, [&] { return x.b.in.frames.size() == 1; }));
  {
    const engine::holder hold(x.a.turns);
    x.a.link->let_go();
  }
  std::fill(out.begin(), out.end(), std::byte{0});
  if (reads) {
    CHECK((in == pattern(out.size(), 3)));
    REQUIRE(eventually({&x.a, &x.b}, [&] { return sent(x.a, 2) && !x.b.in.frames.empty(); }));
    CHECK(x.a.in.broken.empty());
  } else {
    // What it reads now may be anything: it must not take it for the message.
    REQUIRE(eventually({&x.a, &x.b}, [&] { return !x.b.in.broken.empty(); }));
    CHECK(x.b.in.frames.empty());
    CHECK(x.b.in.broken.front() == errc::peer_lost);
    CHECK(x.a.send(frame_number(2), {}) == post::failed);
  }
  CHECK(x.a.in.transferred.empty());
}

TEST_CASE("tcp: a put to a peer that has hung up fails, without a signal") {
  both x;
  const bytes out = pattern(4 * tcp::max_write, 3);
  const const_buffer whole(out);
  bytes in(out.size());
  const remote_address to = expect(x.b, in);
  x.b.forget();
  {
    const engine::holder hold(x.b.turns);
    x.b.link.reset();
  }
  for (int i = 0; i != 3; ++i) {
    const post answer = put(x.a, whole, to, static_cast<std::uint64_t>(i));
    CHECK(answer != post::done);
    if (answer == post::failed) break;
  }
  REQUIRE(eventually({&x.a}, [&] { return !x.a.in.broken.empty(); }));
  CHECK(put(x.a, whole, to) == post::failed);
}
