// SPDX-License-Identifier: Apache-2.0
// Both ends of a TLS connection show certificates: whom they let in, and what they say of others.
#include "support/certificates.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include <weft/error.hpp>

#include "net/tls/stream.hpp"
#include "runtime/descriptors/fd.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

namespace weft::net::tls::test {

namespace {

using tests::authority;
using tests::contains;

bool absent() {
  if (is_built_in()) return false;
  tests::skip("weft is built without OpenSSL");
  return true;
}

/// Both ends of one connection, each with its own files.
struct ends {
  ends(const tls_files& clients, const tls_files& servers, const std::string& host = "localhost")
      : of_clients(clients), of_servers(servers) {
    int both[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both) == 0);
    ours = unique_fd(both[0]);
    theirs = unique_fd(both[1]);
    client.emplace(of_clients, ours.get(), host);
    server.emplace(of_servers, theirs.get());
  }
  /// Until neither goes on.
  ends& shake_hands() {
    for (int n = 0; n != 20; ++n) {
      if (of_client == step::again) of_client = client->shake_hands();
      if (of_server == step::again) of_server = server->shake_hands();
    }
    return *this;
  }
  /// What the client hears behind its own handshake.
  std::string heard() {
    std::byte one{};
    return client->read({&one, 1}) < 0 ? client->trouble() : "something";
  }

  const settings of_clients, of_servers;
  unique_fd ours, theirs;
  std::optional<stream> client, server;
  step of_client = step::again, of_server = step::again;
};

/// What the listener says of a client that it does not let in, which hears it, too.
std::string refused(const tls_files& clients, const tls_files& servers, std::string* heard = {}) {
  ends e(clients, servers);
  e.shake_hands();
  CHECK(e.of_client == step::done);  // as far as it knows
  CHECK(e.of_server == step::failed);
  if (heard) *heard = e.heard();
  return e.server->trouble();
}

/// What the client says of such a listener.
std::string refuses(const tls_files& clients, const tls_files& servers, const std::string& host) {
  ends e(clients, servers, host);
  e.shake_hands();
  CHECK(e.of_client == step::failed);
  CHECK(e.of_server == step::turned_away);
  return e.client->trouble();
}

std::string trouble_of(const tls_files& files) {
  try {
    settings made(files);
  } catch (const error& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("certificates: both ends know each other, and a secret that is theirs") {
  if (absent()) return;
  const authority common;
  const tls_files service = common.issue({.subject = "a service"});
  const tls_files guest = common.issue_below(
      2, {.subject = "a guest", .names = "DNS:guest.example,IP:10.0.3.7,URI:spiffe://e/guest"});
  std::vector<key> secrets;
  for (const char* host : {"localhost", "127.0.0.1"}) {
    ends e(guest, service, host);
    e.shake_hands();
    REQUIRE(e.of_client == step::done);
    REQUIRE(e.of_server == step::done);
    CHECK(e.server->certificate()->subject == "CN=a guest");
    CHECK(e.server->certificate()->names ==
          std::vector<std::string>{"DNS:guest.example", "IP:10.0.3.7", "URI:spiffe://e/guest"});
    CHECK(e.client->certificate()->subject == "CN=a service");
    CHECK(e.client->secret() == e.server->secret());
    secrets.push_back(e.client->secret());
    const std::byte word[] = {std::byte{1}, std::byte{2}};
    std::byte heard[2] = {};
    CHECK(e.server->write(word) == 2);
    CHECK(e.client->read(heard) == 2);
    CHECK(std::ranges::equal(word, heard));
  }
  CHECK(secrets[0] != secrets[1]);
}

TEST_CASE("certificates: a client that is not let in learns why, and the listener says it") {
  if (absent()) return;
  const authority common, another;
  const tls_files service = common.issue();
  std::string heard;
  tls_files unknown = another.issue();
  unknown.authority = common.path();  // it trusts the service
  CHECK_THAT(refused(unknown, service, &heard),
             contains("is of no authority in '" + common.path()));
  CHECK_THAT(heard, contains("does not know the authority of this side's certificate"));
  CHECK_THAT(refused(common.issue({.from = 3000}), service, &heard), contains("not valid yet"));
  CHECK_THAT(heard, contains("does not take this side's certificate"));
  CHECK_THAT(refused(common.issue({.use = "serverAuth"}), service, &heard), contains("clientAuth"));
  CHECK_THAT(heard, contains("extendedKeyUsage"));
}

TEST_CASE("certificates: a listener of another name or authority is not believed") {
  if (absent()) return;
  const authority common, another;
  const tls_files guest = common.issue();
  const auto says = [&](const tls_files& service, const std::string& host = "localhost") {
    return refuses(guest, service, host);
  };
  CHECK_THAT(says(common.issue(), "service.example"),
             contains("not for 'service.example', but for DNS:localhost, IP:127.0.0.1"));
  CHECK_THAT(says(common.issue(), "10.0.0.1"), contains("not for '10.0.0.1'"));
  // What people read in its subject does not count.
  CHECK_THAT(says(common.issue({.subject = "localhost", .names = {}})), contains("no name at all"));
  CHECK_THAT(says(another.issue()), contains("of no authority in"));
  CHECK_THAT(says(common.issue({.from = 3000})), contains("clocks of both hosts"));
  CHECK_THAT(says(common.issue({.use = "clientAuth"})), contains("serverAuth"));
  // Those between are to come with it.
  tls_files torn = common.issue_below(1);
  std::ifstream whole(torn.certificate);
  std::string text((std::istreambuf_iterator<char>(whole)), {});
  text.resize(text.find("-----BEGIN", 1));
  std::ofstream(torn.certificate) << text;
  CHECK_THAT(says(torn), contains("they belong behind its certificate"));
}

TEST_CASE("certificates: a certificate that expires while its owner runs is refused") {
  if (absent()) return;
  const authority common;
  const tls_files brief = common.issue({.until = 3});
  ends late(brief, common.issue());  // its file is read while it is valid
  while (trouble_of(brief) == "none") ::usleep(50'000);
  late.shake_hands();
  CHECK(late.of_server == step::failed);
  CHECK_THAT(late.server->trouble(), contains("has expired"));
  CHECK_THAT(late.heard(), contains("this side's certificate has expired"));
}

TEST_CASE("certificates: one end with a key and one with certificates do not come together") {
  if (absent()) return;
  const authority common;
  int both[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both) == 0);
  const unique_fd ours(both[0]), theirs(both[1]);
  const settings by_key;
  const bool key_connects = GENERATE(true, false);
  const std::byte name[] = {std::byte{'n'}};
  const settings certified(common.issue());
  std::optional<stream> client, server;
  if (key_connects) {
    client.emplace(by_key, ours.get(), name, key{});
    server.emplace(certified, theirs.get());
  } else {
    client.emplace(certified, ours.get(), std::string("localhost"));
    server.emplace(by_key, theirs.get(),
                   [](std::span<const std::byte>) -> std::optional<key> { return key{}; });
  }
  step a = step::again, b = step::again;
  for (int n = 0; n != 20; ++n) {
    if (a == step::again) a = client->shake_hands();
    if (b == step::again) b = server->shake_hands();
  }
  CHECK((a == step::failed || a == step::turned_away));
  CHECK((b == step::failed || b == step::turned_away));
}

TEST_CASE("certificates: a client without one hears that, and is not let in") {
  if (absent()) return;
  const authority common;
  int both[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0);
  const unique_fd ours(both[0]), theirs(both[1]);
  const settings certified(common.issue());
  stream server(certified, theirs.get());
  std::string words;
  std::thread client([&] { words = tests::words_to_bare_client(ours.get()); });
  step now = step::again;
  while (now == step::again) {
    now = server.shake_hands();
    pollfd wait{theirs.get(), POLLIN, 0};
    if (now == step::again) ::poll(&wait, 1, 1000);
  }
  client.join();
  CHECK(now == step::failed);
  CHECK_THAT(server.trouble(), contains("it shows no certificate"));
  CHECK_THAT(words, contains("certificate required"));
}

TEST_CASE("certificates: files that cannot be used are named, with the reason") {
  if (absent()) return;
  const authority common, another;
  const tls_files good = common.issue();
  CHECK(trouble_of(good) == "none");
  const auto with = [&](auto change) {
    tls_files files = good;
    change(files);
    return trouble_of(files);
  };
  CHECK_THAT(with([](tls_files& f) { f.key.clear(); }),
             contains("private key is missing (WEFT_TLS_KEY)"));
  CHECK_THAT(with([](tls_files& f) { f.certificate += "x"; }),
             contains("WEFT_TLS_CERTIFICATE") && contains("No such file"));
  CHECK_THAT(with([&](tls_files& f) { f.authority = common.folder(); }), contains("it is no file"));
  CHECK_THAT(with([](tls_files& f) { f.certificate = f.key; }), contains("none in PEM form"));
  CHECK_THAT(with([&](tls_files& f) { f.key = common.issue().key; }),
             contains("it is not the key of the certificate in '" + good.certificate));
  CHECK_THAT(with([&](tls_files& f) { f.key = common.rsa_key(); }),
             contains("it is not the key of the certificate in '" + good.certificate));
  CHECK_THAT(with([&](tls_files& f) { f.key = common.locked_key(); }), contains("passphrase"));
  CHECK_THAT(with([&](tls_files& f) { f = common.issue({.until = -10}); }),
             contains("has expired"));
  CHECK_THAT(with([&](tls_files& f) { f = common.issue_below(60); }), contains("at most 16384"));
  CHECK_THAT(with([&](tls_files& f) {
               f.authority = common.folder() / "empty";
               std::ofstream(f.authority) << "nothing of use\n";
             }),
             contains("WEFT_TLS_AUTHORITY") && contains("none in PEM form"));
  ::chmod(good.key.c_str(), 0644);
  CHECK_THAT(trouble_of(good), contains("chmod o= " + good.key));
  ::chmod(good.key.c_str(), 0640);
  CHECK(trouble_of(good) == "none");
}

}  // namespace weft::net::tls::test
