// SPDX-License-Identifier: Apache-2.0
// Channels over TCP: between processes that know the job's key, and against those that do not.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <weft/error.hpp>

#include "node.hpp"
#include "support/catch.hpp"
#include "support/descriptors.hpp"
#include "wireup/auth/handshake.hpp"
#include "wireup/auth/introduction.hpp"
#include "wireup/sockets/address.hpp"
#include "wireup/sockets/locator.hpp"

namespace weft::wireup::test {

using transports::wireup_message;

namespace {

tcp_settings with(const job_key& key) { return {key, {"lo"}, std::chrono::seconds(30)}; }

std::string open(node& host, const std::string& address = "tcp://127.0.0.1:0") {
  std::string actual;
  host->open_listener(address, actual);
  return actual;
}

unique_fd stranger_at(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(parse_address(address).port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  unique_fd s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(s.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  return s;
}

void say(const unique_fd& to, std::span<const std::byte> what) {
  for (std::size_t sent = 0; sent < what.size();) {
    const ssize_t n = ::send(to.get(), what.data() + sent, what.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;  // the server may have hung up already
    sent += static_cast<std::size_t>(n);
  }
}

template <std::size_t N>
std::array<std::byte, N> hear(const unique_fd& from) {
  std::array<std::byte, N> all{};
  REQUIRE(::recv(from.get(), all.data(), N, MSG_WAITALL) == static_cast<ssize_t>(N));
  return all;
}

/// Reads until the other side hangs up. \return how many bytes came
std::size_t bytes_until_end(const unique_fd& from) {
  std::array<std::byte, 4096> buffer;
  std::size_t all = 0;
  for (;;) {
    const ssize_t n = ::recv(from.get(), buffer.data(), buffer.size(), 0);
    if (n <= 0) return all;
    all += static_cast<std::size_t>(n);
  }
}

/// A connection of a process that knows the key, and has the invitation.
struct insider : unique_fd {
  admission medium{};
  frame invitation;
};

/// Completes the handshake as a correct peer does.
insider admitted(const std::string& address, const job_key& key) {
  unique_fd socket = stranger_at(address);
  say(socket, encode_opening(approach::prove));
  prover p(key);
  const auto made = p.answer(hear<challenge_size>(socket));
  REQUIRE(made);
  say(socket, *made);
  REQUIRE(p.confirmed_by(hear<sizeof(digest)>(socket)));
  const auto invitation = hear<frame_header::size + 72>(socket);
  auto f = frame_header::parse(invitation, {});
  REQUIRE(f);
  return {std::move(socket), p.secret(), std::move(*f)};
}

std::vector<std::byte> stream_of(const frame& f) {
  const auto head = frame_header::of(f);
  std::vector<std::byte> all(head.size() + f.body.size());
  std::ranges::copy(f.body, std::ranges::copy(head, all.begin()).out);
  return all;
}

frame hello_on(const insider& s, purpose why, const context_key& key = {}) {
  hello h;
  h.why = why;
  h.who.locator = random_socket_name();
  initiator one(key, s.medium);
  REQUIRE(one.hear(s.invitation).value);
  return one.greet(h);
}

/// Requests a connection from `guest` and accepts it at `host`; returns both ends.
std::pair<channel_ptr, channel_ptr> join(node& host, node& guest, const std::string& address) {
  guest->request_connection(address, "let me in", node::into(guest.outcomes));
  arrived_request v = host.arrived_requests.next();
  CHECK(v.request->private_data() == "let me in");
  const channel_ptr inside = v.request->accept();
  const outcome o = guest.outcomes.next();
  REQUIRE(o.failure == "");
  return {inside, o.channel};
}

void check_still_well(node& host, const std::string& address, const job_key& key) {
  node guest({}, with(key));
  const auto [inside, outside] = join(host, guest, address);
  outside->send(make_wireup_message(9, "well"));
  CHECK(text_of(host.wireup_messages.next().wireup_message) == "well");
}

}  // namespace

TEST_CASE("who knows the key comes in over TCP, and parcels of every size go both ways") {
  const job_key key = job_key::random();
  node host({}, with(key)), guest({}, with(key));
  const auto [inside, outside] = join(host, guest, open(host));
  CHECK_FALSE(inside->carries_descriptors());
  CHECK_FALSE(outside->carries_descriptors());
  CHECK(inside->peer().id == guest->self().id);
  CHECK(outside->peer().id == host->self().id);
  CHECK(outside->peer().pid == 0);
  // More than the sockets' buffers hold: frames leave and arrive in parts.
  std::size_t total = 0;
  for (std::size_t n = 0; n < 400; ++n) {
    const std::size_t size =
        n % 7 == 0 ? wireup_message::max_bytes : n * 31 % wireup_message::max_bytes;
    outside->send(
        make_wireup_message(static_cast<std::uint8_t>(n), std::string(size, char('a' + n % 26))));
    total += size;
  }
  for (std::size_t n = 0; n < 400; ++n) {
    const arrived got = host.wireup_messages.next();
    const std::size_t size =
        n % 7 == 0 ? wireup_message::max_bytes : n * 31 % wireup_message::max_bytes;
    REQUIRE(got.wireup_message.kind == static_cast<std::uint8_t>(n));
    REQUIRE(text_of(got.wireup_message) == std::string(size, char('a' + n % 26)));
    total -= size;
  }
  CHECK(total == 0);
  inside->send(make_wireup_message(5, "back"));
  CHECK(text_of(guest.wireup_messages.next().wireup_message) == "back");

  wireup_message with_descriptor = make_wireup_message(1, "");
  with_descriptor.fds.emplace_back(::dup(0));
  CHECK_THROWS_AS(outside->send(std::move(with_descriptor)), error);
}

TEST_CASE("a TCP channel ends in good order although the other side still talks") {
  const job_key key = job_key::random();
  node host({}, with(key)), guest({}, with(key));
  const auto [inside, outside] = join(host, guest, open(host));
  outside->send(make_wireup_message(1, "last words"));
  for (int i = 0; i < 50; ++i) inside->send(make_wireup_message(2, std::string(10000, 'x')));
  outside->close();
  CHECK(text_of(host.wireup_messages.next().wireup_message) == "last words");
  CHECK(host.ends.next().how.orderly());
  CHECK(guest.ends.next().how.orderly());
}

TEST_CASE("a process that vanishes breaks its TCP channel") {
  const job_key key = job_key::random();
  node host({}, with(key));
  const std::string address = open(host);
  {
    const insider socket = admitted(address, key);
    say(socket, stream_of(hello_on(socket, purpose::request_connection)));
    REQUIRE(host.arrived_requests.next().request->accept());
  }
  CHECK_FALSE(host.ends.next().how.orderly());
}

TEST_CASE("a context with a key is found by its locator, over its Unix socket where that answers") {
  const job_key key = job_key::random();
  node host({}, with(key)), guest({}, with(key));
  const auto where = parse_locator(host->self().locator);
  REQUIRE(where);
  REQUIRE_FALSE(where->places.empty());  // 127.0.0.1, and ::1 where there is IPv6
  const outcome o = guest.connect(host->self().locator);
  REQUIRE(o.channel);
  CHECK(o.channel->carries_descriptors());

  // Its Unix socket is out of reach; a wrong name stands for that. The context that answers over
  // TCP is asked for its identity, and is another one than expected.
  locator other = *where;
  other.socket_name = random_socket_name();
  const outcome wrong = guest.connect(to_text(other));
  CHECK_FALSE(wrong.channel);
  CHECK_THAT(wrong.failure, weft::tests::contains("another process of the job answers"));
}

TEST_CASE("meeting over TCP") {
  const job_key key = job_key::random();
  node a({}, with(key)), b({}, with(key));
  std::string first, second;
  a->close_listener(a->open_listener("tcp://127.0.0.1:0", first));
  b->close_listener(b->open_listener("tcp://127.0.0.1:0", second));
  a->meet(first, second, "us", node::into(a.outcomes));
  b->meet(second, first, "us", node::into(b.outcomes));
  const outcome x = a.outcomes.next(), y = b.outcomes.next();
  REQUIRE(x.failure == "");
  REQUIRE(y.failure == "");
  CHECK(x.channel->peer().id == b->self().id);
  x.channel->send(make_wireup_message(1, "met"));
  CHECK(text_of(b.wireup_messages.next().wireup_message) == "met");
}

TEST_CASE("without a key there is no TCP, and the message says what to set") {
  node without;
  CHECK_THROWS_WITH(open(without), weft::tests::contains("WEFT_JOB_KEY"));
  node host({}, with(job_key::random()));
  const outcome o = without.request_connection(open(host));
  CHECK_FALSE(o.channel);
  CHECK_THAT(o.failure, weft::tests::contains("no job key"));
  CHECK(parse_locator(without->self().locator)->places.empty());
}

TEST_CASE("another key comes in nowhere, is logged once, and harms nobody") {
  const job_key key = job_key::random();
  node host({}, with(key)), outsider({}, with(job_key::random()));
  const std::string address = open(host);
  for (int i = 0; i < 3; ++i) {
    const outcome o = outsider.request_connection(address);
    CHECK_FALSE(o.channel);
    CHECK(o.kind == errc::refused);
    CHECK_THAT(o.failure, weft::tests::contains("job key"));
  }
  CHECK_THAT(host.notices.next(), weft::tests::contains("does not know the job's key"));
  CHECK(host.notices.empty());
  CHECK(host.arrived_requests.empty());
  check_still_well(host, address, key);
}

TEST_CASE("an impostor that listens is found out") {
  // It does not know the key, and repeats bytes that it has received before.
  unique_fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  REQUIRE(::bind(listening.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
  REQUIRE(::listen(listening.get(), 1) == 0);
  REQUIRE(::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
  node guest({}, with(job_key::random()));
  guest->request_connection("tcp://127.0.0.1:" + std::to_string(ntohs(at.sin_port)), "",
                            node::into(guest.outcomes));
  const unique_fd caller(::accept(listening.get(), nullptr, nullptr));
  CHECK(hear<opening_size>(caller) == encode_opening(approach::prove));
  say(caller, challenger(job_key::random()).question());
  hear<proof_size>(caller);
  say(caller, digest{});
  CHECK_THAT(guest.outcomes.next().failure, weft::tests::contains("does not know the job's key"));
  CHECK(bytes_until_end(caller) == 0);  // no hello, no private data before the proof
}

TEST_CASE("an earlier conversation cannot be repeated") {
  const job_key key = job_key::random();
  node host({}, with(key));
  const std::string address = open(host);
  const unique_fd first = stranger_at(address);
  say(first, encode_opening(approach::prove));
  prover p(key);
  const proof overheard = *p.answer(hear<challenge_size>(first));
  say(first, overheard);
  REQUIRE(p.confirmed_by(hear<sizeof(digest)>(first)));

  const unique_fd second = stranger_at(address);
  say(second, encode_opening(approach::prove));
  hear<challenge_size>(second);
  say(second, overheard);
  CHECK(bytes_until_end(second) == 0);
  CHECK_THAT(host.notices.next(), weft::tests::contains("does not know the job's key"));
}

TEST_CASE("garbage, too little and too much instead of a handshake end that connection only") {
  const job_key key = job_key::random();
  node host({}, with(key));
  const std::string address = open(host);
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const unique_fd s = stranger_at(address);
    std::vector<std::byte> noise(random() % 300);
    for (std::byte& b : noise) b = static_cast<std::byte>(random());
    if (i % 2 == 0) say(s, encode_opening(approach::prove));
    say(s, noise);
    ::shutdown(s.get(), SHUT_WR);
    // A challenge at most, and never more.
    CHECK(bytes_until_end(s) <= challenge_size);
  }
  CHECK(host.arrived_requests.empty());
  check_still_well(host, address, key);
}

TEST_CASE("garbage behind a good handshake ends that connection only") {
  const job_key key = job_key::random();
  node host({}, with(key));
  const std::string address = open(host);
  const std::vector<std::vector<std::byte>> bad{
      std::vector<std::byte>(64, std::byte{0xff}),         // an enormous length
      stream_of({frame_kind::wireup_message, 1, {}, {}}),  // before the hello
      stream_of(encode_refusal("no")),                     // from the wrong side
      {}};                                                 // descriptors over TCP
  for (auto what : bad) {
    const insider s = admitted(address, key);
    if (what.empty()) {
      what = stream_of(hello_on(s, purpose::request_connection));
      what[2] = std::byte{1};
    }
    say(s, what);
    bytes_until_end(s);
    CHECK_FALSE(host.notices.next().empty());
  }
  CHECK(host.arrived_requests.empty());
  check_still_well(host, address, key);
}

TEST_CASE("a frame that arrives byte by byte is a frame") {
  const job_key key = job_key::random();
  node host({}, with(key));
  const insider s = admitted(open(host), key);
  for (const std::byte b : stream_of(hello_on(s, purpose::request_connection))) say(s, {&b, 1});
  REQUIRE(host.arrived_requests.next().request->accept());
  hear<frame_header::size>(s);  // the welcome: no other frame may come before it
  for (const std::byte b : stream_of({frame_kind::wireup_message, 3, {std::byte{'x'}}, {}}))
    say(s, {&b, 1});
  CHECK(text_of(host.wireup_messages.next().wireup_message) == "x");
}

TEST_CASE("those who are slow at the handshake are dropped, and keep nobody out") {
  const job_key key = job_key::random();
  node host({}, with(key));
  const std::string address = open(host);
  std::vector<unique_fd> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(stranger_at(address));
    const opening o = encode_opening(approach::prove);
    say(slow.back(), std::span(o).first(static_cast<std::size_t>(i) % opening_size));
  }
  check_still_well(host, address, key);
  // Silent connections are closed, too; a byte now and then does not extend their time.
  const std::byte one{0x57};
  say(slow.back(), {&one, 1});
  CHECK(bytes_until_end(slow.back()) == 0);
}

TEST_CASE("who proves that it knows the key does not make room for those who say nothing") {
  const job_key key = job_key::random();
  node host({}, with(key));
  const std::string address = open(host);
  const unique_fd honest = stranger_at(address);
  say(honest, encode_opening(approach::prove));
  prover p(key);
  const auto made = p.answer(hear<challenge_size>(honest));
  std::vector<unique_fd> silent;
  for (int i = 0; i != 100; ++i) silent.push_back(stranger_at(address));
  CHECK(bytes_until_end(silent.front()) == 0);
  say(honest, *made);
  CHECK(p.confirmed_by(hear<sizeof(digest)>(honest)));
}

TEST_CASE("who is hung up on in the middle of the handshake tries again, and not for ever") {
  unique_fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  REQUIRE(::bind(listening.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
  REQUIRE(::listen(listening.get(), 8) == 0);
  REQUIRE(::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
  node guest({}, with(job_key::random()));
  for (const bool answers : {false, true}) {
    guest->request_connection("tcp://127.0.0.1:" + std::to_string(ntohs(at.sin_port)), "",
                              node::into(guest.outcomes));
    // After its proof the other side may have refused it: then there are fewer tries.
    for (int i = 0; i != (answers ? 3 : 5); ++i) {
      pollfd somebody{listening.get(), POLLIN, 0};
      REQUIRE(::poll(&somebody, 1, 30'000) == 1);
      const unique_fd caller(::accept(listening.get(), nullptr, nullptr));
      CHECK(hear<opening_size>(caller) == encode_opening(approach::prove));
      if (!answers) continue;
      say(caller, challenger(job_key::random()).question());
      hear<proof_size>(caller);
    }
    CHECK(guest.outcomes.next().kind == errc::refused);
  }
}

TEST_CASE("bad clients leave nothing open") {
  const std::size_t before = tests::open_descriptors();
  {
    const job_key key = job_key::random();
    node host({}, with(key)), guest({}, with(key));
    const std::string address = open(host);
    const unique_fd silent = stranger_at(address);
    const unique_fd half = stranger_at(address);
    say(half, encode_opening(approach::prove));
    hear<challenge_size>(half);
    join(host, guest, address);
  }
  CHECK(tests::open_descriptors() == before);
}

}  // namespace weft::wireup::test
