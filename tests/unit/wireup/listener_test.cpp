// SPDX-License-Identifier: Apache-2.0
// Listeners: which requests are accepted and rejected, and what each side is told.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/error.hpp>

#include "node.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"
#include "wireup/sockets/address.hpp"

namespace weft::wireup::test {

namespace {

/// An address that no other test run uses.
std::string fresh_name() { return "unix://test-" + to_text(random_id()); }

std::string open(node& n, const std::string& address, std::uint64_t* listener_number = nullptr) {
  std::string actual;
  const std::uint64_t number = n->open_listener(address, actual);
  if (listener_number != nullptr) *listener_number = number;
  return actual;
}

void check_admission(const std::string& address) {
  node host, guest;
  std::uint64_t listener_number = 0;
  const std::string actual = open(host, address, &listener_number);
  guest->request_connection(actual, "let me in", node::into(guest.outcomes));
  arrived_request v = host.arrived_requests.next();
  CHECK(v.listener_number == listener_number);
  CHECK(v.request->private_data() == "let me in");
  CHECK(v.request->peer().id == guest->self().id);
  CHECK(v.request->peer().pid == ::getpid());
  const channel_ptr inside = v.request->accept();
  REQUIRE(inside);
  CHECK_FALSE(v.request->accept());
  inside->send(make_wireup_message(1, "welcome"));
  const outcome o = guest.outcomes.next();
  REQUIRE(o.channel);
  CHECK(o.channel->peer().id == host->self().id);
  CHECK(text_of(guest.wireup_messages.next().wireup_message) == "welcome");
  o.channel->send(make_wireup_message(2, "thanks"));
  CHECK(text_of(host.wireup_messages.next().wireup_message) == "thanks");
  // A listener may close after a guest was accepted.
  host->close_listener(listener_number);
  CHECK(guest.request_connection(actual).kind == errc::refused);
  o.channel->send(make_wireup_message(3, "still here"));
  CHECK(text_of(host.wireup_messages.next().wireup_message) == "still here");
}

}  // namespace

TEST_CASE("a unix listener accepts") { check_admission(fresh_name()); }
TEST_CASE("an any listener accepts") { check_admission("any://:0"); }
TEST_CASE("an any listener with a host accepts") { check_admission("any://localhost:0"); }

TEST_CASE("a rejected requester is told why") {
  for (const std::string& address : {fresh_name(), std::string("any://:0")}) {
    node host, guest;
    const std::string actual = open(host, address);
    guest->request_connection(actual, "", node::into(guest.outcomes));
    host.arrived_requests.next().request->reject("we are full");
    const outcome o = guest.outcomes.next();
    CHECK_FALSE(o.channel);
    CHECK(o.kind == errc::refused);
    CHECK(o.failure == "we are full");

    guest->request_connection(actual, "", node::into(guest.outcomes));
    host.arrived_requests.next();  // and destroyed
    CHECK(guest.outcomes.next().kind == errc::refused);
    CHECK(guest.ends.empty());
    CHECK(host.ends.empty());
  }
}

TEST_CASE("where nobody listens, that is what is said") {
  node guest;
  CHECK_THAT(guest.request_connection(fresh_name()).failure,
             weft::tests::starts_with("nobody listens"));
  std::string actual;
  {
    node host;
    actual = open(host, "any://:0");
  }
  const outcome o = guest.request_connection(actual);
  CHECK(o.kind == errc::refused);
  CHECK_THAT(o.failure, weft::tests::contains("nobody listens"));
}

TEST_CASE("a listener that is being closed refuses, however far a connection has come") {
  node host, guest;
  for (int i = 0; i < 200; ++i) {
    std::uint64_t listener_number = 0;
    const std::string actual = open(host, "any://:0", &listener_number);
    host->close_listener(listener_number);
    const outcome o = guest.request_connection(actual);
    CHECK_FALSE(o.channel);
    CHECK(o.kind == errc::refused);
  }
}

TEST_CASE("a requester that leaves before it is accepted is not accepted") {
  node host;
  const std::string actual = open(host, fresh_name());
  auto guest = std::make_unique<node>();
  (*guest)->request_connection(actual, "", node::into(guest->outcomes));
  arrived_request v = host.arrived_requests.next();
  guest->manager.reset();
  CHECK_FALSE(guest->outcomes.next().channel);
  // Either the end is known already, or the channel ends at once.
  if (const channel_ptr c = v.request->accept()) CHECK(host.ends.next().channel == c);
}

TEST_CASE("a listener that goes while somebody waits") {
  auto host = std::make_unique<node>();
  node guest;
  const std::string actual = open(*host, fresh_name());
  guest->request_connection(actual, "", node::into(guest.outcomes));
  arrived_request v = host->arrived_requests.next();
  host->manager.reset();
  CHECK(guest.outcomes.next().kind == errc::refused);
  CHECK_FALSE(v.request->accept());
}

TEST_CASE("an address that is taken says by whom") {
  node a, b;
  const std::string address = open(a, fresh_name());
  CHECK_THROWS_WITH(open(b, address),
                    weft::tests::contains("taken by process " + std::to_string(::getpid())));
  CHECK_THROWS_WITH(open(b, open(a, "any://:0")), weft::tests::contains("another port"));
}

TEST_CASE("a listener that was closed can be opened again at once") {
  node a;
  const std::string address = fresh_name();
  for (int i = 0; i < 50; ++i) {
    std::uint64_t listener_number = 0;
    open(a, address, &listener_number);
    a->close_listener(listener_number);
  }
}

TEST_CASE("addresses that are none") {
  node a;
  for (const char* bad : {"", "unix://", "any://", "any://host", "any://:x", "any://:70000",
                          "any://:-1", "quic://:1", "any://::1:5", "name"}) {
    CAPTURE(bad);
    try {
      open(a, bad);
      FAIL("no exception");
    } catch (const weft::error& e) {
      CHECK(e.kind() == errc::invalid_argument);
      CHECK_THAT(e.what(), weft::tests::contains("unix://name"));
    }
    CHECK_THAT(a.request_connection(bad).failure, weft::tests::contains("unix://name"));
  }
  CHECK_THROWS_AS(open(a, "unix://" + std::string(81, 'x')), weft::error);
  CHECK_THROWS_AS(open(a, std::string("unix://a\0b", 10)), weft::error);
  const outcome o = a.request_connection(fresh_name(), std::string(1025, 'g'));
  CHECK(o.kind == errc::invalid_argument);
  CHECK_THAT(o.failure, weft::tests::contains("too long"));
}

TEST_CASE("addresses survive the way through text") {
  for (const char* good : {"unix://a:b/c", "any://:7471", "any://example.org:1", "any://[::1]:80"})
    CHECK(to_text(parse_address(good)) == good);
  CHECK(parse_address("any://[::1]:80").host == "::1");
  CHECK(parse_address("any://:7471").port == 7471);
}

TEST_CASE("a user's listener is not another user's") {
  if (::geteuid() != 0) return tests::skip("only root can become somebody else");
  node host;
  const std::string locator = host->self().locator;
  const pid_t child = ::fork();
  if (child == 0) {
    // No thread here: raw system calls are enough for a client.
    if (::setuid(65534) != 0) ::_exit(1);
    const opened socket = connect_abstract(locator);
    char nothing = 0;
    // The host hangs up without an answer.
    const bool turned_away = socket.fd && ::fcntl(socket.fd.get(), F_SETFL, 0) == 0 &&
                             ::recv(socket.fd.get(), &nothing, 1, 0) <= 0;
    const opened again = connect_abstract(locator);
    ::_exit(turned_away && again.fd ? 0 : 2);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK_THAT(host.notices.next(),
             weft::tests::contains("id 65534") && weft::tests::contains("turned away"));
  node guest;
  CHECK(guest.connect(locator).channel);
  CHECK(host.notices.empty());
}

}  // namespace weft::wireup::test
