// SPDX-License-Identifier: Apache-2.0
// Too many clients, and too few descriptors.
#include <netinet/in.h>

#include "raw.hpp"
#include "support/descriptors.hpp"
#include "support/skip.hpp"
#include "wireup/loop/asio.hpp"
#include "wireup/loop/listener.hpp"

namespace weft::wireup::test {

TEST_CASE("those who say nothing are dropped, and keep nobody out") {
  node host;
  std::string actual;
  host->open_listener("any://:0", actual);
  // More than may be unknown at a time: the rest wait in the queue for their turn.
  std::vector<unique_fd> silent;
  for (int i = 0; i < 70; ++i) silent.push_back(raw_connection(host->self().locator));
  // TCP, where any process may connect: the silent ones have to make room at once.
  std::vector<unique_fd> clients;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(parse_address(actual).port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < 200; ++i) {
    unique_fd s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(s.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
    if (i % 2 == 0) CHECK(::send(s.get(), "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL) > 0);
    clients.push_back(std::move(s));
  }
  node guest;
  guest->request_connection(actual, "", node::into(guest.outcomes));
  // After the silent ones.
  CHECK(host.arrived_requests.next().request->accept());
  CHECK(guest.outcomes.next().channel);
  for (std::size_t i = 0; i < 64; ++i) CHECK(last_words(silent[i]).empty());
  for (const unique_fd& s : clients) {
    char c = 0;
    CHECK(::recv(s.get(), &c, 1, 0) <= 0);
  }
  check_still_well(host);
}

TEST_CASE("without descriptors to spare clients wait, are told of once, and get their turn") {
  if (WEFT_TEST_SANITIZED) return tests::skip("the sanitizer needs descriptors of its own");
  node host;
  check_still_well(host);
  opened waiting;
  std::string told;
  {
    const tests::descriptor_famine famine(1);
    // the last descriptor is for this side; there is none for the other
    waiting = connect_abstract(host->self().locator);
    told = host.notices.next();
  }
  REQUIRE(waiting.fd);
  CHECK_THAT(told, weft::tests::contains("cannot accept") && weft::tests::contains("ulimit -n"));
  REQUIRE(::fcntl(waiting.fd.get(), F_SETFL, 0) == 0);
  frame invitation = receive_one(waiting.fd);
  const raw_end in{std::move(waiting.fd), std::move(invitation)};
  REQUIRE(send_raw(in, bytes_of(hello_for(in))) == 0);
  CHECK(receive_one(in).kind == frame_kind::welcome);
  CHECK(host.notices.empty());
}

TEST_CASE("without descriptors for long clients are turned away, and told what to raise") {
  if (WEFT_TEST_SANITIZED) return tests::skip("the sanitizer needs descriptors of its own");
  node host;
  check_still_well(host);
  opened waiting;
  {
    const tests::descriptor_famine famine(1);
    waiting = connect_abstract(host->self().locator);
    REQUIRE(waiting.fd);
    REQUIRE(::fcntl(waiting.fd.get(), F_SETFL, 0) == 0);
    const frame answer = receive_one(waiting.fd);
    CHECK(answer.kind == frame_kind::refusal);
    CHECK_THAT(decode_refusal(answer), weft::tests::contains("ulimit -n"));
  }
  check_still_well(host);
}

TEST_CASE("a peer whose descriptors find no room learns why its channel ends") {
  if (WEFT_TEST_SANITIZED) return tests::skip("the sanitizer needs descriptors of its own");
  node host;
  check_still_well(host);
  const raw_end peer = admitted(host);
  {
    const frame much{frame_kind::wireup_message, 9, {}, {}};
    const unique_fd sent(::dup(0));
    const tests::descriptor_famine famine(0);
    REQUIRE(send_descriptors(peer.get(), bytes_of(much), 1, sent.get()) > 0);
    const frame answer = receive_one(peer);
    CHECK(answer.kind == frame_kind::bye);
    CHECK(answer.detail == static_cast<std::uint8_t>(bye_kind::no_descriptors));
  }
  CHECK_THAT(host.notices.next(), weft::tests::contains("too few file descriptors"));
  check_still_well(host);
}

TEST_CASE("a starved listener rests between its attempts") {
  using clock = std::chrono::steady_clock;
  const std::string name = random_socket_name();
  loop thread;
  record<clock::time_point> starved;
  record<bool> started, accepted;
  std::shared_ptr<listener> l;
  opened socket = listen_abstract(name);
  REQUIRE(socket.fd);
  thread.post([&] {
    l = std::make_shared<listener>(
        thread, std::move(socket.fd), [&](unique_fd) { accepted.add(true); },
        [&](int) { starved.add(clock::now()); }, nullptr);
    l->start();
    started.add(true);
  });
  CHECK(started.next());
  // The first use of a timer happens before the famine: UBSan checks a type that it has not seen
  // through a pipe, and takes a pipe that it cannot open for a broken object.
  record<bool> rang;
  thread.post([&] {
    auto timer = std::make_shared<asio::steady_timer>(thread.io(), std::chrono::milliseconds(1));
    timer->async_wait([&rang, timer](const asio::error_code&) { rang.add(true); });
  });
  CHECK(rang.next());
  opened waiting;
  clock::time_point first, third;
  {
    const tests::descriptor_famine famine(1);
    waiting = connect_abstract(name);
    first = starved.next();
    starved.next();
    third = starved.next();
  }
  // A lower bound: a slow machine only makes it longer.
  CHECK(third - first >= std::chrono::milliseconds(90));
  CHECK(accepted.next());
  thread.end([&] { l->close(); });
}

}  // namespace weft::wireup::test
