// SPDX-License-Identifier: Apache-2.0
// Doors: who is let in, who is turned away, and what each side is told.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <weft/error.hpp>

#include "node.hpp"
#include "support/skip.hpp"
#include "wireup/address.hpp"

namespace weft::wireup::test {

namespace {

/// An address that no other test run uses.
std::string fresh_name() { return "unix://test-" + to_text(random_id()); }

std::string open(node& n, const std::string& address, std::uint64_t* door = nullptr) {
  std::string actual;
  const std::uint64_t number = n->open_door(address, actual);
  if (door != nullptr) *door = number;
  return actual;
}

void check_admission(const std::string& address) {
  node host, guest;
  std::uint64_t door = 0;
  const std::string actual = open(host, address, &door);
  guest->knock(actual, "let me in", node::into(guest.outcomes));
  visit v = host.visits.next();
  CHECK(v.door == door);
  CHECK(v.visitor->greeting() == "let me in");
  CHECK(v.visitor->peer().id == guest->self().id);
  CHECK(v.visitor->peer().pid == ::getpid());
  const channel_ptr inside = v.visitor->accept();
  REQUIRE(inside);
  CHECK_FALSE(v.visitor->accept());
  inside->send(make_parcel(1, "welcome"));
  const outcome o = guest.outcomes.next();
  REQUIRE(o.channel);
  CHECK(o.channel->peer().id == host->self().id);
  CHECK(text_of(guest.parcels.next().parcel) == "welcome");
  o.channel->send(make_parcel(2, "thanks"));
  CHECK(text_of(host.parcels.next().parcel) == "thanks");
  // A door may shut behind a guest.
  host->close_door(door);
  CHECK(guest.knock(actual).kind == errc::refused);
  o.channel->send(make_parcel(3, "still here"));
  CHECK(text_of(host.parcels.next().parcel) == "still here");
}

}  // namespace

TEST_CASE("a unix door lets in") { check_admission(fresh_name()); }
TEST_CASE("an any door lets in") { check_admission("any://:0"); }
TEST_CASE("an any door with a host lets in") { check_admission("any://localhost:0"); }

TEST_CASE("a rejected visitor is told why") {
  for (const std::string& address : {fresh_name(), std::string("any://:0")}) {
    node host, guest;
    const std::string actual = open(host, address);
    guest->knock(actual, "", node::into(guest.outcomes));
    host.visits.next().visitor->reject("we are full");
    const outcome o = guest.outcomes.next();
    CHECK_FALSE(o.channel);
    CHECK(o.kind == errc::refused);
    CHECK(o.failure == "we are full");

    guest->knock(actual, "", node::into(guest.outcomes));
    host.visits.next();  // and forgotten
    CHECK(guest.outcomes.next().kind == errc::refused);
    CHECK(guest.ends.empty());
    CHECK(host.ends.empty());
  }
}

TEST_CASE("where nobody listens, that is what is said") {
  node guest;
  CHECK_THAT(guest.knock(fresh_name()).failure, Catch::StartsWith("nobody listens"));
  std::string actual;
  {
    node host;
    actual = open(host, "any://:0");
  }
  const outcome o = guest.knock(actual);
  CHECK(o.kind == errc::refused);
  CHECK_THAT(o.failure, Catch::Contains("nobody listens"));
}

TEST_CASE("a door that is being shut refuses, however far a connection has come") {
  node host, guest;
  for (int i = 0; i < 200; ++i) {
    std::uint64_t door = 0;
    const std::string actual = open(host, "any://:0", &door);
    host->close_door(door);
    const outcome o = guest.knock(actual);
    CHECK_FALSE(o.channel);
    CHECK(o.kind == errc::refused);
  }
}

TEST_CASE("a visitor that leaves before it is let in is not let in") {
  node host;
  const std::string actual = open(host, fresh_name());
  auto guest = std::make_unique<node>();
  (*guest)->knock(actual, "", node::into(guest->outcomes));
  visit v = host.visits.next();
  guest->manager.reset();
  CHECK_FALSE(guest->outcomes.next().channel);
  // Either it is known already, or the channel ends at once.
  if (const channel_ptr c = v.visitor->accept()) CHECK(host.ends.next().channel == c);
}

TEST_CASE("a listener that goes while somebody waits") {
  auto host = std::make_unique<node>();
  node guest;
  const std::string actual = open(*host, fresh_name());
  guest->knock(actual, "", node::into(guest.outcomes));
  visit v = host->visits.next();
  host->manager.reset();
  CHECK(guest.outcomes.next().kind == errc::refused);
  CHECK_FALSE(v.visitor->accept());
}

TEST_CASE("an address that is taken says by whom") {
  node a, b;
  const std::string address = open(a, fresh_name());
  CHECK_THROWS_WITH(open(b, address),
                    Catch::Contains("taken by process " + std::to_string(::getpid())));
  CHECK_THROWS_WITH(open(b, open(a, "any://:0")), Catch::Contains("another port"));
}

TEST_CASE("a door that was shut can be opened again at once") {
  node a;
  const std::string address = fresh_name();
  for (int i = 0; i < 50; ++i) {
    std::uint64_t door = 0;
    open(a, address, &door);
    a->close_door(door);
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
      CHECK_THAT(e.what(), Catch::Contains("unix://name"));
    }
    CHECK_THAT(a.knock(bad).failure, Catch::Contains("unix://name"));
  }
  CHECK_THROWS_AS(open(a, "unix://" + std::string(81, 'x')), weft::error);
  CHECK_THROWS_AS(open(a, std::string("unix://a\0b", 10)), weft::error);
  const outcome o = a.knock(fresh_name(), std::string(1025, 'g'));
  CHECK(o.kind == errc::invalid_argument);
  CHECK_THAT(o.failure, Catch::Contains("too long"));
}

TEST_CASE("addresses survive the way through text") {
  for (const char* good : {"unix://a:b/c", "any://:7471", "any://example.org:1", "any://[::1]:80"})
    CHECK(to_text(parse_address(good)) == good);
  CHECK(parse_address("any://[::1]:80").host == "::1");
  CHECK(parse_address("any://:7471").port == 7471);
}

TEST_CASE("a user's door is not another user's") {
  if (::geteuid() != 0) return tests::skip("only root can become somebody else");
  node host;
  const std::string locator = host->self().locator;
  const pid_t child = ::fork();
  if (child == 0) {
    // No thread here: raw system calls are enough to be a stranger.
    if (::setuid(65534) != 0) ::_exit(1);
    const opened socket = connect_abstract(locator);
    char nothing = 0;
    // The host hangs up without a word.
    const bool turned_away = socket.fd && ::fcntl(socket.fd.get(), F_SETFL, 0) == 0 &&
                             ::recv(socket.fd.get(), &nothing, 1, 0) <= 0;
    const opened again = connect_abstract(locator);
    ::_exit(turned_away && again.fd ? 0 : 2);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK_THAT(host.notices.next(), Catch::Contains("id 65534") && Catch::Contains("turned away"));
  node guest;
  CHECK(guest.connect(locator).channel);
  CHECK(host.notices.empty());
}

}  // namespace weft::wireup::test
