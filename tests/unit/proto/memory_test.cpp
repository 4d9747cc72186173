// SPDX-License-Identifier: Apache-2.0
// There is no memory at the moment when an operation begins.
#include "net.hpp"
#include "proto/operations/closed_operation.hpp"
#include "support/allocations.hpp"
#include "support/skip.hpp"

using namespace net;
using weft::detail::send_mode;
using weft::tests::no_memory;

namespace {

/// Opens a link from the first node to the second.
void open_link(nodes& n) {
  const bytes out = pattern(8);
  bytes in(8);
  n[0].send(1, out, tag{1});
  n[1].recv(0, in, tag{1});
  n.settle();
  REQUIRE(in == out);
}

}  // namespace

TEST_CASE("memory: a message that cannot be begun ends with out_of_memory, and the next one goes") {
  if (!weft::tests::counts_allocations())
    return weft::tests::skip("the sanitizer's operator new cannot be replaced");
  nodes n(2);
  open_link(n);
  const bytes out = pattern(1'000'000);
  const send_mode mode = GENERATE(send_mode::standard, send_mode::synchronous);
  sending first(weft::send_request{&n[0].to(1), tag{2}, weft::const_buffer(out), mode});
  {
    const no_memory none;
    first.go();
  }
  n.settle();
  CHECK(first.ended_with(errc::out_of_memory));

  bytes in(out.size());
  const auto second = n[0].send(1, out, tag{2}, mode);
  const auto received = n[1].recv(0, in, tag{2});
  n.settle();
  CHECK(second->ended_with(errc::ok));
  CHECK(received->ended_with(errc::ok));
  CHECK(in == out);
  CHECK(n.clean());
}

TEST_CASE("memory: a peer that cannot be told something is ended, with everything that waits") {
  nodes n(2);
  n.links_allowed = false;
  const bytes out = pattern(8);
  const auto waiting = n[0].send(1, out, tag{1});
  {
    peer& gone = n[0].to(1);
    const engine::holder hold(n[0].engine);
    gone.connection().mark_failed();
  }
  CHECK(waiting->ends == 0);  // not at once: the caller may be in the middle of other work
  n[0].engine.poll_once();
  CHECK(waiting->ended_with(errc::out_of_memory));
  CHECK(n[0].to(1).why() == errc::out_of_memory);
}

TEST_CASE("memory: the wait for a peer's end that cannot be noted ends with out_of_memory") {
  if (!weft::tests::counts_allocations())
    return weft::tests::skip("the sanitizer's operator new cannot be replaced");
  nodes n(2);
  open_link(n);
  tracked<weft::proto::closed_operation> closed(weft::proto::closed(n[0].to(1)));
  {
    const no_memory none;
    closed.go();
  }
  CHECK(closed.ended_with(errc::out_of_memory));
}

TEST_CASE("memory: a number that there is no memory for is not given out") {
  if (!weft::tests::counts_allocations())
    return weft::tests::skip("the sanitizer's operator new cannot be replaced");
  weft::proto::id_table<int> table;
  int what = 0;
  {
    const no_memory none;
    CHECK(table.insert(what) == 0);
  }
  CHECK(table.none());
  const auto id = table.insert(what);
  CHECK(id != 0);
  CHECK(!table.none());
  table.erase(id);
  CHECK(table.none());
}
