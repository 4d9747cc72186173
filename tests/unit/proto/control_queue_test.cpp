// SPDX-License-Identifier: Apache-2.0
#include "proto/connection/control_queue.hpp"
#include "support/catch.hpp"

using namespace weft::proto;
using weft::errc;

namespace {
control_queue::entry entry(frame_kind kind, std::uint64_t a = 0, std::uint64_t b = 0) {
  return {header_of(kind, 0, 0, weft::transports::has_extension), {a, b, 0}};
}
}  // namespace

TEST_CASE("control queue: frames leave in order, and are counted by kind") {
  control_queue q;
  CHECK(q.empty());
  CHECK(q.add(entry(frame_kind::cts, 1)) == errc::ok);
  CHECK(q.add(entry(frame_kind::credit)) == errc::ok);
  CHECK(q.add(entry(frame_kind::fin_ack, 2)) == errc::ok);
  CHECK(q.size() == 3);
  CHECK(q.count(frame_kind::credit) == 1);
  CHECK(q.front().kind() == frame_kind::cts);
  q.pop();
  CHECK(q.front().kind() == frame_kind::credit);
  q.pop();
  CHECK(q.front().extension.a == 2);
  q.pop();
  CHECK(q.empty());
}

TEST_CASE("control queue: answers are bounded, other frames are the connection's own") {
  control_queue q;
  for (std::uint32_t i = 0; i != most_unsent_answers; ++i)
    REQUIRE(q.add(entry(frame_kind::matched, i)) == errc::ok);
  CHECK(q.add(entry(frame_kind::cts)) == errc::protocol_error);
  CHECK(q.add(entry(frame_kind::bye)) == errc::ok);
  CHECK(q.size() == most_unsent_answers + 1);
  q.pop();
  CHECK(q.add(entry(frame_kind::cts)) == errc::ok);
  CHECK(q.add(entry(frame_kind::cts)) == errc::protocol_error);
  q.clear();
  CHECK(q.empty());
  CHECK(q.add(entry(frame_kind::cts)) == errc::ok);
}

TEST_CASE("control queue: what tells of a rail is brought up to date while it waits") {
  control_queue q;
  CHECK_FALSE(q.update_arrived(1, 10));
  CHECK(q.add(entry(frame_kind::arrived, 1, 10)) == errc::ok);
  CHECK(q.update_arrived(1, 20));
  CHECK_FALSE(q.update_arrived(2, 5));
  CHECK(q.size() == 1);
  CHECK(q.front().extension.b == 20);
}

TEST_CASE("control queue: answers to accesses are counted, and grants are not among them") {
  control_queue q;
  REQUIRE(q.add(entry(frame_kind::accessed, 1)) == errc::ok);
  REQUIRE(q.add(entry(frame_kind::granted, 2, 77)) == errc::ok);  // grants a place
  REQUIRE(q.add(entry(frame_kind::granted, 3, 0)) == errc::ok);   // grants none
  CHECK(q.access_answers() == 2);
  q.pop();
  CHECK(q.access_answers() == 1);
  q.pop();
  CHECK(q.access_answers() == 1);
  q.pop();
  CHECK(q.access_answers() == 0);
  REQUIRE(q.add(entry(frame_kind::accessed, 4)) == errc::ok);
  q.clear();
  CHECK(q.access_answers() == 0);
}

TEST_CASE("control queue: by its number a frame is known to have left") {
  control_queue q;
  REQUIRE(q.add(entry(frame_kind::cts)) == errc::ok);
  q.pop();
  REQUIRE(q.add(entry(frame_kind::cts)) == errc::ok);
  const std::uint64_t number = q.added();
  REQUIRE(q.add(entry(frame_kind::granted, 1, 77)) == errc::ok);
  CHECK(q.left() <= number);
  q.pop();
  CHECK(q.left() <= number);
  q.pop();
  CHECK(q.left() > number);
}

TEST_CASE("control queue: what tells of something done is true also after the end") {
  control_queue q;
  for (const frame_kind k : {frame_kind::cts, frame_kind::fin_ack, frame_kind::credit,
                             frame_kind::accessed, frame_kind::matched, frame_kind::cancelled})
    REQUIRE(q.add(entry(k)) == errc::ok);
  std::vector<frame_kind> kinds;
  for (const control_queue::entry& e : q.deeds()) kinds.push_back(e.kind());
  CHECK(kinds == std::vector{frame_kind::fin_ack, frame_kind::accessed, frame_kind::matched,
                             frame_kind::cancelled});
}
