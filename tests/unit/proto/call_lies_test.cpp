// SPDX-License-Identifier: Apache-2.0
// Messages and frames of calls that no correct peer sends.
#include "calls_of_test.hpp"

using namespace net;

namespace {

using weft::proto::call_kind;
using weft::proto::call_tag;
using weft::proto::frame_extension;
using weft::proto::frame_kind;
using weft::proto::header_of;

struct lie {
  const char* what;
  std::uint64_t tag;
  std::uint64_t immediate = 0;
  std::uint32_t size = 8;
  bool long_one = false;  ///< an announcement of a payload
};

/// Sends node 0 one message. \return how node 2 has ended there
errc send_lie(const lie& l) {
  nodes n(3);
  const auto h = serve(n[0], am{7}, &call_echo);
  const auto link = n.raw_link(2, 0);
  const bytes junk(64);
  const const_buffer whole(junk);
  weft::transports::gather data(std::span<const const_buffer>(&whole, 1));
  weft::proto::frame_header f = header_of(
      l.long_one ? frame_kind::rts : frame_kind::eager, l.tag, l.size,
      static_cast<std::uint8_t>(weft::proto::eager_ends | weft::transports::has_extension |
                                (l.immediate != 0 ? weft::transports::has_immediate : 0)));
  const frame_extension x{l.long_one ? std::uint64_t{1} << 48 | 1'000'000 : l.size, 0, l.immediate};
  link->send(f, &x, data);
  n.settle();
  call_of_test other(n[1], am{7}, 400'000, 400'000);
  n.settle();
  CHECK(other.op.ended_with(errc::ok));
  return n[0].to(2).why();
}

}  // namespace

TEST_CASE("calls: a message that no correct peer sends ends its connection only") {
  const bool long_one = GENERATE(false, true);
  const std::uint64_t calls = weft::proto::call_tags;
  const std::vector<lie> lies{
      {"a reply to nothing", call_tag{call_kind::reply, 1, 0}.packed()},
      {"a reply with the number 65535", call_tag{call_kind::reply, 65535, 0}.packed()},
      {"a reply without a number", call_tag{call_kind::reply, 0, 0}.packed()},
      {"a reply with an unknown status", call_tag{call_kind::reply, 1, 3}.packed()},
      {"a reply with a word", call_tag{call_kind::reply, 1, 0}.packed(), 5},
      {"a value of no stream", call_tag{call_kind::item, 1, 0}.packed()},
      {"a value without a number", call_tag{call_kind::item, 0, 0}.packed()},
      {"a value with a word", call_tag{call_kind::item, 1, 0}.packed(), 5},
      {"a stream without a number", call_tag{call_kind::stream_request, 0, 7}.packed()},
      {"kind 6", calls | std::uint64_t{6} << 48 | std::uint64_t{1} << 32},
      {"a request without a number", call_tag{call_kind::request, 0, 7}.packed()},
      {"a post with a number", call_tag{call_kind::post, 3, 7}.packed()},
      {"a post with a deadline", call_tag{call_kind::post, 0, 7}.packed(), 9},
      {"kind 0", calls},
      {"kind 15", calls | std::uint64_t{15} << 48},
  };
  for (lie l : lies) {
    CAPTURE(l.what, long_one);
    l.long_one = long_one;
    CHECK(send_lie(l) == errc::protocol_error);
  }
}

TEST_CASE("calls: stops of calls that there are not do nothing, but number 0 is no call") {
  nodes n(2);
  const auto h = serve(n[0], am{7}, &call_echo);
  const auto stop = [&](std::uint64_t id) {
    peer& whom = n[1].to(0);
    const engine::holder hold(n[1].engine);
    whom.writer().send_control(frame_kind::call_stop, id);
  };
  for (const std::uint64_t id : {1u, 2u, 65535u}) stop(id);
  call_of_test c(n[1], am{7}, 400'000, 400'000);
  n.settle();
  CHECK(c.op.ended_with(errc::ok));
  SECTION("0") { stop(0); }
  SECTION("beyond all numbers") { stop(65536); }
  n.settle();
  CHECK(n[0].to(1).why() == errc::protocol_error);
}
