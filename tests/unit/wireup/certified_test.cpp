// SPDX-License-Identifier: Apache-2.0
// Channels between contexts that have certificates, and no key, in common.
#include <sys/socket.h>

#include <filesystem>
#include <random>
#include <string>

#include <weft/error.hpp>

#include "net/tls/stream.hpp"
#include "node.hpp"
#include "raw.hpp"
#include "support/catch.hpp"
#include "support/certificates.hpp"
#include "support/skip.hpp"
#include "wireup/auth/handshake.hpp"
#include "wireup/sockets/address.hpp"

namespace weft::wireup::test::certified {

namespace {

using tests::authority;
using tests::contains;

bool absent() {
  if (net::tls::is_built_in()) return false;
  tests::skip("weft is built without OpenSSL");
  return true;
}

tcp_settings with(const job_key& key = {}) { return {key, {"lo"}, std::chrono::seconds(30)}; }

using certificates = std::shared_ptr<renewable_certificates>;
certificates of(const tls_files& files) { return std::make_shared<renewable_certificates>(files); }

std::string open(node& host, const certificates& by) {
  std::string actual;
  host->open_listener("tcp://127.0.0.1:0", actual, {}, 0, by);
  return actual;
}

void ask(node& guest, const std::string& address, const tls_files& files) {
  guest->request_connection(address, "let me in", node::into(guest.outcomes), 0, of(files)->now());
}

/// Lets one guest in. \return the names that the listener sees
std::vector<std::string> let_in(node& host, const std::string& address, const tls_files& files) {
  node guest({}, with());
  ask(guest, address, files);
  const arrived_request v = host.arrived_requests.next();
  REQUIRE(v.request->certificate() != nullptr);
  const channel_ptr inside = v.request->accept();
  REQUIRE(inside);
  const outcome o = guest.outcomes.next();
  REQUIRE(o.failure == "");
  o.channel->send(make_wireup_message(1, "well"));
  CHECK(text_of(host.wireup_messages.next().wireup_message) == "well");
  o.channel->close();
  CHECK(host.ends.next().how.orderly());
  return v.request->certificate()->names;
}

std::string failure_of(node& guest, const std::string& address, const tls_files& files) {
  ask(guest, address, files);
  const outcome o = guest.outcomes.next();
  CHECK_FALSE(o.channel);
  CHECK(o.kind == errc::refused);
  return o.failure;
}

unique_fd client_at(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(parse_address(address).port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  unique_fd s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(s.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  return s;
}

void say(const unique_fd& to, std::span<const std::byte> what) {
  ::send(to.get(), what.data(), what.size(), MSG_NOSIGNAL);
}

std::vector<std::byte> hear_until_end(const unique_fd& from) {
  std::vector<std::byte> all(1 << 16);
  std::size_t got = 0;
  for (ssize_t n = 1; n > 0 && got != all.size(); got += n > 0 ? static_cast<std::size_t>(n) : 0)
    n = ::recv(from.get(), all.data() + got, all.size() - got, 0);
  all.resize(got);
  return all;
}

/// Says that it shows a certificate, and hears that the listener does.
unique_fd begun_at(const std::string& address) {
  unique_fd s = client_at(address);
  say(s, encode_opening(approach::certify));
  opening reply{};
  REQUIRE(::recv(s.get(), reply.data(), reply.size(), MSG_WAITALL) == std::ssize(reply));
  REQUIRE(decode_opening(reply) == approach::certify);
  return s;
}

}  // namespace

TEST_CASE("certified: a channel without a key, whose listener knows who has come") {
  if (absent()) return;
  const authority common;
  node host({}, with());
  const std::string address = open(host, of(common.issue()));
  CHECK(let_in(host, address, common.issue({.names = "DNS:guest.example"})) ==
        std::vector<std::string>{"DNS:guest.example"});
}

TEST_CASE("certified: no side learns of the other one's job, or is believed to have a rank") {
  if (absent()) return;
  const authority common;
  identity hosts, guests;
  hosts.job = random_id();
  hosts.rank = 0;
  guests.job = hosts.job;
  guests.rank = 3;
  node host(hosts, with()), guest(guests, with());
  ask(guest, open(host, of(common.issue())), common.issue());
  const arrived_request v = host.arrived_requests.next();
  CHECK(v.request->peer().job == context_id{});
  CHECK(v.request->peer().rank == no_peer);
  CHECK(v.request->peer().id == guest->self().id);
  const channel_ptr inside = v.request->accept();
  const outcome o = guest.outcomes.next();
  REQUIRE(o.failure == "");
  CHECK(o.channel->peer().job == context_id{});
  CHECK(o.channel->peer().rank == no_peer);
}

TEST_CASE("certified: who is not let in learns why") {
  if (absent()) return;
  const authority common, another;
  const job_key key = job_key::random();
  node host({}, with(key)), guest({}, with(key));
  const std::string address = open(host, of(common.issue()));
  tls_files unknown = another.issue();
  CHECK_THAT(failure_of(guest, address, unknown), contains("is of no authority in"));
  unknown.authority = common.path();
  for (int n = 0; n != 20; ++n)  // the verdict comes in spite of the end
    CHECK_THAT(failure_of(guest, address, unknown),
               contains("does not know the authority of this side's certificate"));
  CHECK_THAT(failure_of(guest, address, common.issue({.use = "serverAuth"})),
             contains("extendedKeyUsage"));
  CHECK(host.notices.next() != "");
  CHECK(host.notices.empty());  // said once
  node elsewhere({}, with());
  CHECK_THAT(failure_of(guest, open(elsewhere, of(common.issue({.names = "DNS:other.example"}))),
                        common.issue()),
             contains("not for '127.0.0.1', but for DNS:other.example"));
  // The key does not help, and no side falls back.
  const outcome o = guest.request_connection(address);
  CHECK_THAT(o.failure, contains("wants a certificate, and this side shows none"));
  std::string by_key;
  host->open_listener("tcp://127.0.0.1:0", by_key);
  CHECK_THAT(failure_of(guest, by_key, common.issue()),
             contains("that listener takes the job's key"));
  CHECK(host.arrived_requests.empty());
}

TEST_CASE("certified: garbage, and a client without a certificate, end that connection only") {
  if (absent()) return;
  const authority common;
  node host({}, with());
  const std::string address = open(host, of(common.issue()));
  CHECK_THAT(tests::words_to_bare_client(begun_at(address).get()),
             contains("certificate required"));
  CHECK_THAT(host.notices.next(), contains("shows no certificate"));
  std::mt19937 random(7);
  for (int n = 0; n != 100; ++n) {
    const unique_fd s = begun_at(address);
    if (n % 2 == 0) {  // as if a handshake began
      const unsigned char beginning[] = {0x16, 3, 1, 0, 200, 1, 0, 0, 196};
      say(s, std::as_bytes(std::span(beginning)));
    }
    say(s, garbage(random, random() % 300));
    ::shutdown(s.get(), SHUT_WR);
    CHECK(hear_until_end(s).size() <= 100);  // an alert at most
  }
  CHECK(host.arrived_requests.empty());
  let_in(host, address, common.issue());
}

TEST_CASE("certified: what a guest has said is of no use to another one") {
  if (absent()) return;
  const authority common;
  node host({}, with());
  const std::string address = open(host, of(common.issue()));
  const unique_fd first = begun_at(address), second = begun_at(address);
  const auto shown = of(common.issue())->now();
  net::tls::stream guest(*shown, first.get(), std::string("localhost"));
  int both[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0);
  const unique_fd ours(both[0]), theirs(both[1]);
  // The guest's words go by way of a party that keeps them.
  net::tls::stream heard(*shown, ours.get(), std::string("localhost"));
  std::vector<std::byte> kept;
  const auto pass = [&](int from, int to, bool keep) {
    std::array<std::byte, 1 << 14> some;
    const ssize_t n = ::recv(from, some.data(), some.size(), MSG_DONTWAIT);
    if (n <= 0) return;
    const auto said = std::span(some).first(static_cast<std::size_t>(n));
    if (keep) kept.insert(kept.end(), said.begin(), said.end());
    ::send(to, said.data(), said.size(), MSG_NOSIGNAL);
  };
  while (heard.shake_hands() == net::tls::step::again) {
    pass(theirs.get(), first.get(), true);
    pass(first.get(), theirs.get(), false);
  }
  pass(theirs.get(), first.get(), true);
  say(second, kept);
  ::shutdown(second.get(), SHUT_WR);
  hear_until_end(second);
  CHECK(host.arrived_requests.empty());
  CHECK_THAT(host.notices.next(), contains("was turned away"));
}

TEST_CASE("certified: no way around it from the same host and user") {
  if (absent()) return;
  const authority common;
  node host({}, with());
  std::string actual;
  const std::uint64_t number =
      host->open_listener("tcp://127.0.0.1:0", actual, {}, 0, of(common.issue()));
  const raw_end socket = raw_connection(host->self().locator);
  hello h = good_hello();
  h.why = purpose::request_connection;
  h.listener_number = number;
  REQUIRE(send_raw(socket, bytes_of(hello_for(socket, h))) == 0);
  const frame answer = receive_one(socket);
  REQUIRE(answer.kind == frame_kind::refusal);
  CHECK_THAT(decode_refusal(answer), contains("wants a certificate"));
  CHECK(host.arrived_requests.empty());
}

TEST_CASE("certified: renewed files count for the next client, and broken ones do not") {
  if (absent()) return;
  const authority common, next;
  const tls_files files = common.issue();
  node host({}, with());
  const std::string address = open(host, of(files));
  const tls_files guest_of_old = common.issue(), guest_of_new = next.issue();
  let_in(host, address, guest_of_old);
  const auto replace = [](const std::string& what, const std::string& by) {
    std::filesystem::copy_file(by, what + ".new");
    std::filesystem::rename(what + ".new", what);
  };
  const tls_files renewed = next.issue();
  replace(files.certificate, renewed.certificate);
  let_in(host, address, guest_of_old);  // a key that does not fit: as before
  CHECK_THAT(host.notices.next(), contains("goes on with its former certificates") &&
                                      contains("is not the key of the certificate"));
  std::filesystem::permissions(renewed.key, std::filesystem::perms::owner_read);
  replace(files.key, renewed.key);
  replace(files.authority, renewed.authority);
  let_in(host, address, guest_of_new);
  node late({}, with());
  CHECK_THAT(failure_of(late, address, guest_of_old),
             contains("does not know the authority of this side's certificate"));
}

TEST_CASE("certified: two meet") {
  if (absent()) return;
  const authority common;
  const auto settings = [&] {
    tcp_settings s = with();
    s.certificates = of(common.issue());
    return s;
  };
  node a({}, settings()), b({}, settings());
  std::string of_a, of_b;
  a->close_listener(a->open_listener("tcp://127.0.0.1:0", of_a, {}, 0, of(common.issue())));
  b->close_listener(b->open_listener("tcp://127.0.0.1:0", of_b, {}, 0, of(common.issue())));
  CHECK(a.connect("no locator").failure != "");  // the listeners are closed
  CHECK(b.connect("no locator").failure != "");
  a->meet(of_a, of_b, "x", node::into(a.outcomes));
  b->meet(of_b, of_a, "x", node::into(b.outcomes));
  CHECK(a.outcomes.next().failure == "");
  CHECK(b.outcomes.next().failure == "");
}

TEST_CASE("certified: certificates are for tcp:// addresses") {
  if (absent()) return;
  const authority common;
  node host({}, with());
  std::string actual;
  for (const char* address : {"any://127.0.0.1:0", "unix://certified"}) {
    CHECK_THROWS_WITH(host->open_listener(address, actual, {}, 0, of(common.issue())),
                      contains("certificates are for addresses tcp://"));
    ask(host, address, common.issue());
    const outcome o = host.outcomes.next();
    CHECK(o.kind == errc::invalid_argument);
    CHECK_THAT(o.failure, contains("certificates are for addresses tcp://"));
  }
}

}  // namespace weft::wireup::test::certified
