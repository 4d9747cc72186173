// SPDX-License-Identifier: Apache-2.0
// Messages that need a number for their answer when all numbers are used.
#include "net.hpp"

using namespace net;
using weft::detail::send_mode;

namespace {

constexpr std::size_t all_numbers = weft::proto::id_table<int>::most;
constexpr tag crowd{1}, late{2};

/// Node 0 has begun as many messages as there are numbers, and node 1 has received none.
struct no_number_left {
  nodes n{2};
  bytes nothing;
  std::shared_ptr<sending> first, next;

  no_number_left() {
    first = n[0].send(1, nothing, crowd, send_mode::synchronous);
    for (std::size_t i = 1; i != all_numbers; ++i)
      n[0].send(1, nothing, crowd, send_mode::synchronous);
    n.settle();
    next = n[0].send(1, nothing, late, send_mode::synchronous);
    n.settle();
  }
  void receive_the_rest(std::size_t left) {
    for (; left != 0; --left) n[1].recv(0, nothing, crowd);
    n.settle();
    CHECK(n.clean());
  }
};

}  // namespace

TEST_CASE("numbers: a message that found none left goes when one is free again", "[many]") {
  no_number_left s;
  const auto wanted = s.n[1].recv(0, s.nothing, late);
  s.n.settle();
  CHECK_FALSE(wanted->ended());

  SECTION("because another message was received") {
    const auto one = s.n[1].recv(0, s.nothing, crowd);
    s.n.settle();
    CHECK(one->ended_with(errc::ok));
  }
  SECTION("because another message was taken back") {
    s.first->cancel();
    s.n.settle();
    CHECK(s.first->ended_with(errc::stopped));
  }
  CHECK(wanted->ended_with(errc::ok));
  CHECK(s.next->ended_with(errc::ok));
  s.receive_the_rest(all_numbers - 1);
}

TEST_CASE("numbers: a message that found none left can be taken back") {
  no_number_left s;
  CHECK_FALSE(s.next->ended());
  s.next->cancel();
  s.n.settle();
  CHECK(s.next->ended_with(errc::stopped));
  s.receive_the_rest(all_numbers);
}

TEST_CASE("numbers: a message that found none left ends with its peer", "[many]") {
  no_number_left s;
  s.n.world.kill(1);
  s.n.settle();
  CHECK(s.next->ended_with(errc::peer_lost));
  CHECK(s.first->ended_with(errc::peer_lost));
}
