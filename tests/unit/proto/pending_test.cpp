// SPDX-License-Identifier: Apache-2.0
// The lines about pending operations, in the states that an operation can wait in.
#include <algorithm>
#include <string>
#include <vector>

#include "net.hpp"
#include "proto/groups/group_table.hpp"
#include "proto/messenger/pending.hpp"

using namespace net;
using weft::any_tag;
using weft::proto::pending_history;
using pending_texts = std::vector<std::string>;

namespace {

pending_texts texts_of(side& s, std::size_t most = 50, pending_history* before = nullptr) {
  pending_history none;
  const engine::holder hold(s.engine);
  return weft::proto::texts_of(
      weft::proto::look_at_pending(s.messages, most, before ? *before : none));
}

bool lists_line(const pending_texts& lines, const std::string& line) {
  CAPTURE(lines, line);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& l) { return l.rfind(line, 0) == 0; });
}

}  // namespace

TEST_CASE("pending: a receive is named with peer, tag and size, in the order of posting") {
  nodes n(2, {});
  bytes in(64), any(8);
  n[0].recv(1, in, tag{7});
  n[0].recv_any(any, any_tag);
  n[0].recv(1, in, tag_mask{0x10, 0xf0});
  const pending_texts lines = texts_of(n[0]);
  REQUIRE(lines.size() >= 3);
  CHECK(lines[0] == "receive from rank 1, tag 7, 64 bytes: no message has come");
  CHECK(lines[1] == "receive from any peer, any tag, 8 bytes: no message has come");
  CHECK(lines[2] ==
        "receive from rank 1, tag 0x10 in the bits 0xf0, 64 bytes: no message has come");
}

TEST_CASE("pending: a receive that waited at the last call says since when") {
  nodes n(2, {});
  bytes in(8);
  pending_history before;
  n[0].recv(1, in, tag{1});
  CHECK(lists_line(texts_of(n[0], 50, &before), "receive from rank 1, tag 1, 8 bytes: no message"));
  n[0].recv(1, in, tag{2});
  const pending_texts again = texts_of(n[0], 50, &before);
  REQUIRE(again.size() >= 2);
  CHECK(again[0].find("for at least") != std::string::npos);
  CHECK(again[1].find("for at least") == std::string::npos);
}

TEST_CASE("pending: a send says what it waits for") {
  nodes n(2, {}, std::vector(2, weft::proto::messenger_settings{64u << 20, 64u << 10}));
  const bytes brief(10), out = pattern(200'000);
  bytes in(out.size());
  n[0].send(1, brief, tag{1});
  n[0].send(1, brief, tag{2});
  const pending_texts unconnected = texts_of(n[0]);
  CHECK(lists_line(unconnected, "send to rank 1, tag 1, 10 bytes: waits for the connection"));
  CHECK(lists_line(unconnected, "send to rank 1, tag 2, 10 bytes: waits for the connection"));
  CHECK(lists_line(unconnected, "connection to rank 1: is being made"));

  n.settle();
  n[0].send(1, out, tag{3});
  n.settle();
  CHECK(lists_line(texts_of(n[0]), "send to rank 1, tag 3, 200000 bytes: "));
  CHECK(lists_line(texts_of(n[0]), "connection to rank 1: open, "));
  const pending_texts other = texts_of(n[1]);
  CHECK(lists_line(other, "message from rank 0, tag 1, 10 bytes: no receive has met it"));
  CHECK(lists_line(other, "message from rank 0, tag 3, 200000 bytes: no receive has met it"));

  n[1].recv(0, in, tag{3});
  bool amid = false;
  do amid = amid || lists_line(texts_of(n[1]), "receive from rank 0, tag 3: ");
  while (n.step());
  CHECK(amid);  // some, and not all, of its bytes had come
  CHECK_FALSE(lists_line(texts_of(n[0]), "send to rank 1, tag 3"));
}

TEST_CASE("pending: sends without credit wait for receives") {
  nodes n(2, {}, std::vector(2, weft::proto::messenger_settings{64u << 10, 4u << 10}));
  const bytes out(1000);
  for (int i = 0; i != 200; ++i) n[0].send(1, out, tag{1});
  n.settle();
  const pending_texts lines = texts_of(n[0], 200);
  CHECK(lists_line(lines, "send to rank 1, tag 1, 1000 bytes: waits for credit"));
  CHECK(lists_line(lines, "send to rank 1, tag 1, 1000 bytes: waits for messages before it"));
}

TEST_CASE("pending: a collective is named by its number and its group") {
  nodes n(2, {});
  bytes in(8);
  n[0].recv(1, in, tag{weft::proto::message_tag(0, 5)});
  n[0].recv(1, in, tag{weft::proto::message_tag(0xabc, 6)});
  const pending_texts lines = texts_of(n[0]);
  CHECK(lists_line(lines, "receive from rank 1, collective 5 of the world, 8 bytes: "));
  CHECK(lists_line(lines, "receive from rank 1, collective 6 of group 0xabc, 8 bytes: "));
}

TEST_CASE("pending: the lines of each kind are bounded, and those left out are counted") {
  nodes n(2, {});
  std::vector<bytes> in(100, bytes(8));
  for (bytes& one : in) n[0].recv(1, one, tag{1});
  const pending_texts lines = texts_of(n[0], 10);
  CHECK(std::count_if(lines.begin(), lines.end(),
                      [](const std::string& l) { return l.rfind("receive", 0) == 0; }) == 10);
  CHECK(lists_line(lines, "and 90 more operations"));
}
