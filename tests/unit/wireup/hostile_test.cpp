// SPDX-License-Identifier: Apache-2.0
// Behaviour of no correct peer: garbage, excess, silence, at every stage. It must have no effect
// beyond its own connection.
#include <chrono>
#include <thread>

#include "raw.hpp"
#include "support/descriptors.hpp"

namespace weft::wireup::test {

TEST_CASE("garbage instead of a hello ends that connection and nothing else") {
  node host;
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const unique_fd socket = raw_connection(host->self().locator);
    REQUIRE(send_raw(socket, garbage(random, 1 + random() % 3000), random() % 3) == 0);
    for (const frame& f : last_words(socket)) CHECK(f.kind == frame_kind::refusal);
  }
  check_still_well(host);
  // The first 16 notices, then the 32nd, 64th, 128th and 256th: an attacker cannot fill a disk with
  // them.
  int told = 0;
  for (; !host.notices.empty(); ++told) host.notices.next();
  CHECK(told >= 16);
  CHECK(told <= 20);
}

TEST_CASE("a hello with any one byte changed, cut or lengthened never harms") {
  node host;
  const context_key key;
  const auto good_on = [&](const raw_end& end) {
    hello h = good_hello();
    h.private_data = "hi";
    return bytes_of(hello_for(end, h, key));
  };
  const std::size_t size = good_on(raw_connection(host->self().locator)).size();
  std::mt19937 random(2);
  for (std::size_t at = 0; at < size; ++at) {
    const raw_end socket = raw_connection(host->self().locator);
    bytes bad = good_on(socket);
    bad[at] ^= static_cast<std::byte>(1u << random() % 8);
    REQUIRE(send_raw(socket, bad) == 0);
    for (const frame& f : last_words(socket)) CHECK(f.kind == frame_kind::refusal);
  }
  for (std::size_t length = 1; length < size; ++length) {
    const raw_end socket = raw_connection(host->self().locator);
    bytes cut = good_on(socket);
    cut.resize(length);
    REQUIRE(send_raw(socket, cut) == 0);
    for (const frame& f : last_words(socket)) CHECK(f.kind == frame_kind::refusal);
  }
  const raw_end socket = raw_connection(host->self().locator);
  bytes longer = good_on(socket);
  longer.push_back(std::byte{0});
  REQUIRE(send_raw(socket, longer) == 0);
  CHECK(last_words(socket).empty());
  check_still_well(host);
}

TEST_CASE("another version is told so") {
  node host;
  const raw_end socket = raw_connection(host->self().locator);
  frame f = hello_for(socket);
  f.body[4] = std::byte{99};
  REQUIRE(send_raw(socket, bytes_of(f)) == 0);
  const std::vector<frame> said = last_words(socket);
  REQUIRE(said.size() == 1);
  CHECK_THAT(decode_refusal(said[0]), weft::tests::contains("version 99"));
}

TEST_CASE("too many bytes or descriptors, before and after the hello; none of them stays open") {
  node host;
  admitted(host);
  host.ends.next();
  const std::size_t before = tests::open_descriptors();
  for (bool after_hello : {false, true}) {
    const auto fresh = [&] {
      return after_hello ? admitted(host) : raw_connection(host->self().locator);
    };
    const auto expect_end = [&](const unique_fd& socket) {
      CHECK(last_words(socket).empty());
      if (after_hello) CHECK_FALSE(host.ends.next().how.orderly());
    };
    const bytes wireup_message = bytes_of({frame_kind::wireup_message, 1, bytes(10), {}});
    {
      const unique_fd socket = fresh();
      REQUIRE(send_raw(socket, bytes(frame_header::size + max_frame_body + 1)) == 0);
      expect_end(socket);
    }
    {
      const unique_fd socket = fresh();
      REQUIRE(send_raw(socket, bytes(100000)) == 0);
      expect_end(socket);
    }
    {  // Descriptors that the header does not mention.
      const unique_fd socket = fresh();
      REQUIRE(send_raw(socket, wireup_message, 3) == 0);
      expect_end(socket);
    }
    {  // A length that is not that of the packet.
      const unique_fd socket = fresh();
      bytes lying = wireup_message;
      lying[4] = lying[5] = lying[6] = lying[7] = std::byte{0xff};
      REQUIRE(send_raw(socket, lying) == 0);
      expect_end(socket);
    }
    {  // More descriptors than there is room for.
      const unique_fd socket = fresh();
      REQUIRE(send_descriptors(socket.get(), wireup_message,
                               transports::wireup_message::max_fds + 20) > 0);
      expect_end(socket);
    }
  }
  check_still_well(host);
  // They are closed on another thread, some a moment later.
  for (int n = 0; n != 1000 && tests::open_descriptors() > before; ++n)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(tests::open_descriptors() <= before);
}

// A former defect: the context answered no peer until the last close had ended.
TEST_CASE("a descriptor whose close would block holds nobody up") {
  node host;
  lingering socket;
  const unique_fd peer = admitted(host);
  SECTION("in a wire-up message") {
    frame f{frame_kind::wireup_message, 1, bytes(10), {}};
    f.fds.push_back(std::move(socket.full));
    REQUIRE(send_packet(peer.get(), frame_header::of(f), f.body, f.fds) == 0);
    f.fds.clear();
    host.wireup_messages.next();
  }
  SECTION("in what is no frame") {
    REQUIRE(send_descriptors(peer.get(), bytes(10), 0, socket.full.get()) > 0);
    socket.let_go();
    CHECK(last_words(peer).empty());
  }
  SECTION("behind as many as a wire-up message may carry") {
    REQUIRE(send_descriptors(peer.get(), bytes(10), wireup_message::max_fds, socket.full.get()) >
            0);
    socket.let_go();
    CHECK(last_words(peer).empty());
  }
  check_still_well(host);
  socket.read_all();
}

TEST_CASE("a descriptor in a packet that was never read holds nobody up") {
  node host;
  lingering socket;
  unique_fd peer;
  do {
    peer = raw_connection(host->self().locator);
    REQUIRE(send_raw(peer, bytes(10)) == 0);  // ends the connection: the rest is never read
  } while (send_descriptors(peer.get(), bytes(10), 0, socket.full.get()) < 0);
  socket.let_go();
  last_words(peer);
  check_still_well(host);
  socket.read_all();
}

TEST_CASE("frames where none belong") {
  node host;
  std::string actual;
  host->open_listener("unix://hostile-" + to_text(random_id()), actual);
  const std::string listening = listener_socket_name(parse_address(actual).name);
  for (int kind = 0; kind < 32; ++kind) {
    CAPTURE(kind);
    const frame f{static_cast<frame_kind>(kind), 0, bytes(4), {}};
    {
      const unique_fd socket = raw_connection(host->self().locator);
      REQUIRE(send_raw(socket, bytes_of(f)) == 0);
      for (const frame& said : last_words(socket)) CHECK(said.kind == frame_kind::refusal);
    }
    {  // While it waits at the listener it must not send anything.
      const raw_end socket = raw_connection(listening);
      hello h = good_hello();
      h.why = purpose::request_connection;
      REQUIRE(send_raw(socket, bytes_of(hello_for(socket, h))) == 0);
      const arrived_request v = host.arrived_requests.next();
      REQUIRE(send_raw(socket, bytes_of(f)) == 0);
      CHECK(last_words(socket).empty());
      // Either the end is known already, or the channel ends at once.
      if (const channel_ptr c = v.request->accept()) CHECK(host.ends.next().channel == c);
    }
    if (kind == static_cast<int>(frame_kind::wireup_message)) continue;
    const unique_fd socket = admitted(host);
    REQUIRE(send_raw(socket, bytes_of(f)) == 0);
    CHECK(last_words(socket).empty());
    CHECK_FALSE(host.ends.next().how.orderly());
  }
  check_still_well(host);
}

TEST_CASE("a listener that does not exist, and a listener's number by the wrong socket") {
  node host;
  std::string actual;
  const std::uint64_t number =
      host->open_listener("unix://hostile-" + to_text(random_id()), actual);
  for (std::uint64_t listening : {number, number + 1000, std::uint64_t{0}}) {
    for (purpose why : {purpose::request_connection, purpose::meet}) {
      hello h = good_hello();
      h.why = why;
      h.listener_number = listening;
      const raw_end socket = raw_connection(host->self().locator);
      REQUIRE(send_raw(socket, bytes_of(hello_for(socket, h))) == 0);
      const std::vector<frame> said = last_words(socket);
      REQUIRE(said.size() == 1);
      CHECK(decode_refusal(said[0]) == "that listener is closed");
    }
  }
  CHECK(host.arrived_requests.empty());
}

TEST_CASE("a listener that answers nonsense fails the one that asked, not more") {
  node guest;
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    const context_key key;
    const std::string name = socket_name_of(key.id());
    responder listens(key, {});
    opened listener = listen_abstract(name);
    REQUIRE(listener.fd);
    guest->connect(name, node::into(guest.outcomes));
    REQUIRE(::fcntl(listener.fd.get(), F_SETFL, 0) == 0);
    unique_fd one(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    REQUIRE(one);
    if (i % 2 == 0) {
      frame f = listens.invite();
      if (i % 8 == 0) f.body[random() % f.body.size()] ^= std::byte{0x40};
      REQUIRE(send_raw(one, bytes_of(f)) == 0);
    }
    if (i % 8 != 0 && i % 2 == 0) REQUIRE(listens.judge(receive_one(one)).value);
    if (i % 3 == 0) {
      REQUIRE(send_raw(one, garbage(random, 1 + random() % 500)) >= 0);
    } else if (i % 3 == 1 && i % 2 == 0) {
      frame f = listens.welcome(good_hello().who);
      f.body[random() % f.body.size()] ^= std::byte{0x40};
      REQUIRE(send_raw(one, bytes_of(f)) >= 0);
    } else {
      listener.fd = unique_fd();
      one = unique_fd();
    }
    const outcome o = guest.outcomes.next();
    CHECK_FALSE(o.channel);
    CHECK(o.failure != "");
  }
  CHECK(guest.ends.empty());
}

TEST_CASE("who was hung up on for its silence asks again, and not for ever") {
  node guest;
  const context_key key;
  const std::string name = socket_name_of(key.id());
  opened listener = listen_abstract(name);
  REQUIRE(listener.fd);
  REQUIRE(::fcntl(listener.fd.get(), F_SETFL, 0) == 0);
  const auto next = [&] {
    unique_fd one(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    REQUIRE(one);
    return one;
  };
  guest->connect(name, node::into(guest.outcomes));
  next();  // hangs up
  const unique_fd one = next();
  responder listens(key, {});
  REQUIRE(send_raw(one, bytes_of(listens.invite())) == 0);
  REQUIRE(listens.judge(receive_one(one)).value);
  REQUIRE(send_raw(one, bytes_of(listens.welcome(good_hello().who))) == 0);
  CHECK(guest.outcomes.next().failure == "");

  guest->connect(name, node::into(guest.outcomes));
  for (int i = 0; i < 3; ++i) next();
  CHECK(guest.outcomes.next().kind == errc::peer_lost);
}

TEST_CASE("a refusal's reason cannot paint the terminal") {
  CHECK(decode_refusal(encode_refusal("a\033[31mb\n")) == "a?[31mb?");
  CHECK(decode_refusal(encode_refusal(std::string(5000, 'r'))).size() == max_reason);
}

}  // namespace weft::wireup::test
