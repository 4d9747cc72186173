// SPDX-License-Identifier: Apache-2.0
// The memory into which a peer's transport may write: never memory of no receive, never beyond its
// end, and no bytes are read where there are none.
#include "hostile_frame_sink.hpp"
#include "proto/rma/rma.hpp"

using namespace net;
using weft::detail::rma_kind;
using weft::detail::rma_request;
using weft::proto::access_ends;
using weft::proto::eager_ends;
using weft::proto::frame_extension;
using weft::proto::frame_kind;
using weft::transports::has_extension;

namespace {

using transferring = tracked<weft::transfer_operation>;

}  // namespace

TEST_CASE("hostile: a frame that was begun for one message does not end in another") {
  frame_sink_attack a;
  bytes in(1u << 20), other(1u << 20);
  auto receive = a.n[0].recv(2, in, tag{5});
  REQUIRE(a.frame(frame_kind::rts, 0, 0, {numbered(1, in.size()), 0}));
  const auto half = a.head(frame_kind::more, 65'536);
  const auto there = a.place(half, nullptr);
  REQUIRE(there.data() == reinterpret_cast<std::byte*>(in.data()));
  REQUIRE(there.size() == 65'536);
  // By another transport the message goes on without that frame, and the next one begins.
  REQUIRE(a.frame(a.head(frame_kind::more, 0, eager_ends), nullptr));
  std::shared_ptr<receiving> second;
  if (GENERATE(false, true)) second = a.n[0].recv(2, other, tag{5});
  REQUIRE(a.frame(frame_kind::rts, 0, 0, {numbered(2, other.size()), 0}));
  CHECK_FALSE(a.frame(half, nullptr, true));
  a.n.settle();
  CHECK(a.villain().why() == errc::protocol_error);
  CHECK(receive->ended_with(errc::protocol_error));
  if (second) CHECK(second->ended_with(errc::protocol_error));
  CHECK(a.place(half, nullptr, 100).empty());
}

TEST_CASE("hostile: a message does not end while the transport writes to its memory") {
  frame_sink_attack a;
  bytes in(200'000);
  auto receive = a.n[0].recv(2, in, tag{5});
  SECTION("in the part that comes without being asked for") {
    REQUIRE(a.frame(frame_kind::rts, 0, 0, {numbered(1, in.size()), 0}));
    REQUIRE_FALSE(a.place(a.head(frame_kind::more, 65'536), nullptr).empty());
    CHECK_FALSE(a.frame(a.head(frame_kind::more, 65'536), nullptr));
  }
  SECTION("in the rest") {
    REQUIRE(a.frame(frame_kind::rts, 0, eager_ends, {numbered(1, in.size()), 0}));
    a.n.settle();  // node 0 has asked for it, under number 1
    const frame_extension x{1, 0};
    const auto h = a.head(frame_kind::data, 65'536, has_extension);
    REQUIRE_FALSE(a.place(h, &x).empty());
    CHECK_FALSE(a.frame(h, &x));
  }
  a.n.settle();
  CHECK(receive->ended_with(errc::protocol_error));
}

TEST_CASE("hostile: no bytes, and no place that they could be in") {
  frame_sink_attack a;
  bytes in(100);
  SECTION("of a message that begins") {
    const frame_extension x{numbered(1, 100), 0};
    CHECK_FALSE(a.frame(a.head(frame_kind::rts, 50, has_extension), &x, true));
  }
  SECTION("of one that nobody receives") {
    REQUIRE(a.frame(frame_kind::rts, 10, 0, {numbered(1, 100), 0}));
    CHECK(a.place(a.head(frame_kind::more, 50), nullptr).empty());
    CHECK_FALSE(a.frame(a.head(frame_kind::more, 50), nullptr, true));
  }
  SECTION("of one that is received, but was not told where") {
    auto receive = a.n[0].recv(2, in, tag{5});
    REQUIRE(a.frame(frame_kind::rts, 10, 0, {numbered(1, 100), 0}));
    CHECK_FALSE(a.frame(a.head(frame_kind::more, 50), nullptr, true));
    a.n.settle();
    CHECK(receive->ended_with(errc::protocol_error));
  }
  CHECK(a.villain().why() == errc::protocol_error);
}

TEST_CASE("placed: a receive that is stopped within a frame drops the rest of it") {
  frame_sink_attack a;
  bytes in(200'000);
  auto receive = a.n[0].recv(2, in, tag{5});
  REQUIRE(a.frame(frame_kind::rts, 0, 0, {numbered(1, in.size()), 0}));
  const auto h = a.head(frame_kind::more, 60'000);
  REQUIRE_FALSE(a.place(h, nullptr).empty());
  receive->cancel();
  a.n.settle();
  CHECK(receive->ended_with(errc::stopped));
  CHECK(a.place(h, nullptr, 1000).empty());
  CHECK(a.frame(h, nullptr, true));
  // And the next one, which has no place from the beginning.
  CHECK(a.place(h, nullptr).empty());
  CHECK(a.frame(h, nullptr));
  CHECK(a.frame(a.head(frame_kind::more, 0, eager_ends), nullptr));
  CHECK_FALSE(a.villain().has_ended());
  a.n[0].end();
  CHECK(a.n[0].clean());
}

TEST_CASE("hostile: what was read is written where a get wants it, and nowhere else") {
  frame_sink_attack a;
  bytes memory(5000);
  rma_request order{&a.villain(), rma_kind::get, {7, 0, memory.size()}};
  const bool reads = GENERATE(true, false);
  if (reads) {
    order.into = weft::mutable_buffer(memory);
  } else {
    order.kind = rma_kind::put;
    order.data = weft::const_buffer(memory);
  }
  transferring op(weft::transfer_request{order});
  op.go();
  while (!op.asked) REQUIRE(a.n.step());
  const auto place = [&](std::uint64_t offset, std::uint32_t size, std::uint32_t already) {
    const frame_extension x{numbered(op.id, offset), 0};
    return a.place(a.head(frame_kind::got, size, has_extension | access_ends), &x, already);
  };
  CHECK(place(op.done + 1, 100, 0).empty());
  CHECK(place(op.done, 5001, 0).empty());
  CHECK(place(op.done, ~0u, 0).empty());
  CHECK(place(op.done, 100, 100).empty());
  CHECK(place(5000, 4096, 0).empty());
  if (reads) {
    const auto there = place(0, 5000, 1000);
    CHECK(there.data() == reinterpret_cast<std::byte*>(memory.data()) + 1000);
    CHECK(there.size() == 4000);
  } else {
    CHECK(place(0, 5000, 0).empty());
  }
  a.n.settle();
  CHECK(op.ends == 1);
}
